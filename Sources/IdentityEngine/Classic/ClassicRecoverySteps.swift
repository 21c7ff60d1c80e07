internal import Foundation

/// Going on with a recovery (authn reference 4.4, 4.11 and 4.12).
extension IdentityEngine {
    /// Takes the code that was sent.
    ///
    /// - Parameters:
    ///   - passCode: As it was typed; nil if none was given.
    ///   - stateToken: Leads to the recovery.
    ///   - browser: The secret of the browser that it goes on in, on the hosted pages; nil at the API.
    ///   - nextSecret: The secret that replaces `browser` after the correct code; `nil` at the API.
    ///   - context: When and from where it came.
    /// - Returns: Where the recovery stands; or a refusal: `E0000068`, `E0000069` after too many wrong codes.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicRecoveryVerify(
        passCode: String?, stateToken: String, browser: String? = nil, nextSecret: String? = nil, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, browser: browser, context: context) { [self] state in
            guard state.status(of: state.transaction) == .recoveryChallenge, let channel = state.classic.recovery?.channel else {
                throw ClassicRefusal.notAllowed(in: state.status(of: state.transaction)?.rawValue ?? "none")
            }
            guard let passCode else { throw ClassicRefusal.missing("passCode") }
            // If the recovery is closed, the code is compared with a dummy, so that the work is the same.
            let enrollment = isRecoveryClosed(state, context) ? nil : state.recoveryTelephone(channel)
            let verifier = CodeVerifier(
                environment: environment, channel: enrollment?.code?.channel ?? channel, enrollments: enrollment.map { [$0] } ?? [],
                owner: state.transaction.id, now: context.now, occasion: .anybody)
            let verdict = verifier.verify(.code(passCode), of: state.user.value, policy: state.snapshot.passwordPolicy)
            var changes: [Change] = []
            var isWrong = false
            var bound: String?
            var step: (SignInTransaction, SignInTransaction.Outcome, [SignInTransaction.Effect])
            switch verdict {
            case .proved(_, let used):
                changes = try used?.changes() ?? []
                step = state.transaction.step(.recoveryProved(hasQuestion: state.question != nil, state.subject), now: context.now)
                if let nextSecret {
                    bound = nextSecret
                    step.0.classic?.page?.browser.bind(to: nextSecret)
                    step.0.classic?.page?.acceptedCode = acceptedDigest(of: passCode, for: state.transaction.id)
                }
            case .wrong(let counted):
                isWrong = true
                changes = [.put(try counted.record())]
                step = state.transaction.step(.recoveryCodeWrong(state.subject), now: context.now)
            case .failed: step = state.transaction.step(.recoveryFailed("wrong code, or nobody's"), now: context.now)
            }
            return try await concludeGuess(
                step, isWrong: isWrong, state, changes: changes, nextSecret: bound, wrong: .wrongRecoveryCode, context: context)
        }
    }

    /// Whether codes or answers of this recovery are ignored: after too many wrong codes of this user, or, at an unknown origin, after too many
    /// wrong codes of all users.
    private func isRecoveryClosed(_ state: ClassicState, _ context: RequestContext, isAnswer: Bool = false) -> Bool {
        let user = state.user.value
        if !isAnswer, user.guessedCodes?.isClosed(at: context.now) == true { return true }
        return !user.knows(state.subject.origin)
            && recoveryBudget.isSpent(limit: state.snapshot.rateLimits.recoveryGuesses, now: context.now)
    }

    /// Commits a step after a guess, and counts a wrong guess for the whole organization.
    private func concludeGuess(
        _ step: (SignInTransaction, SignInTransaction.Outcome, [SignInTransaction.Effect]), isWrong: Bool, _ state: ClassicState,
        writesUser: Bool = false, changes: [Change] = [], nextSecret: String? = nil, wrong: ClassicRefusal, context: RequestContext
    ) async throws -> ClassicAnswer? {
        do {
            return try await conclude(
                step.0, step.1, step.2, state, writesUser: writesUser, changes: changes, nextSecret: nextSecret, wrong: wrong,
                context: context)
        } catch let refusal as ClassicRefusal {
            // Refusals are thrown after the commit: a guess counts once, even if the commit is retried.
            guard isWrong else { throw refusal }
            report(.wrongRecoveryGuess)
            let limit = state.snapshot.rateLimits.recoveryGuesses
            if recoveryBudget.count(limit: limit, now: context.now) {
                let reason = "\(limit) wrong codes and answers in recoveries within an hour; no more are looked at from unknown origins"
                _ = try await store.commit([logEntry("security.recovery.budget", .denied, reason: reason, context: context)])
                report(.recoveryBudgetSpent)
            }
            throw refusal
        }
    }

    /// Sends the code again, or says so.
    ///
    /// - Parameters:
    ///   - stateToken: Leads to the recovery.
    ///   - browser: The secret of the browser that it goes on in, on the hosted pages; nil at the API.
    ///   - context: When and from where it came.
    /// - Returns: Where the recovery stands; or a refusal: a limit, `E0000079`.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicRecoveryResend(stateToken: String, browser: String? = nil, context: RequestContext) async throws -> Result<
        ClassicAnswer, ClassicRefusal
    > {
        try await classicStep(stateToken, browser: browser, context: context) { [self] state in
            guard state.status(of: state.transaction) == .recoveryChallenge, let recovery = state.classic.recovery,
                let channel = recovery.channel
            else { throw ClassicRefusal.notAllowed(in: state.status(of: state.transaction)?.rawValue ?? "none") }
            let pace = recoveryPacer.refusal(
                channel, to: state.transaction.id, .anybody, limit: nil, requestID: context.requestID, now: context.now)
            if let pace { throw ClassicRefusal(pace, context: context) }
            var changes: [Change] = []
            var messages: [OutgoingMessage] = []
            if !isRecoveryClosed(state, context), let enrollment = state.recoveryTelephone(channel) {
                let request = CodeRequest(
                    purpose: recovery.kind == .unlock ? .unlock : .recovery, owner: state.transaction.id, channel: channel)
                do {
                    let prepared = try prepareCode(
                        request, for: enrollment, of: state.user.value, snapshot: state.snapshot, context: context)
                    (changes, messages) = (try self.changes(of: prepared.writes, context: context), [prepared.message])
                } catch let refusal as CodeRefusal {
                    changes = [try unsent(refusal, to: state.user.value, context: context)]
                }
            } else {
                // As much work for nobody as for somebody.
                changes = [
                    try logEntry(
                        "user.mfa.code.send", .denied, reason: "\(channel.rawValue): nothing that could be reached", userID: nil,
                        context: context)
                ]
            }
            guard var answer = try await show(state.transaction, of: state, closing: changes, context: context) else { return nil }
            answer.messages = messages
            return answer
        }
    }

    /// Exchanges the token that was mailed, or given to a back end.
    ///
    /// - Parameters:
    ///   - token: The token, good once.
    ///   - enrollsOptional: Whether the client wants to be offered what can be set up, one after the other.
    ///   - context: When and from where it came.
    /// - Returns: Where the recovery stands; or `E0000011`.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicRecoveryToken(
        _ token: String, enrollsOptional: Bool = false, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await exchange(.recoveryToken, token, context: context) { $0.enrollsOptional = enrollsOptional }
    }

    /// Takes a token that leads to what waits for it, and goes on there; the sign-in begins with it.
    func exchange(
        _ kind: TicketKind, _ token: String, context: RequestContext, _ change: (inout ClassicSignIn) -> Void
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        let stateToken = try environment.random.secret(prefix: "00")
        return try await exchange(kind, token, for: stateToken, browser: nil, context: context, change)
    }

    /// The same for a state token that the caller created, and for a page in a browser with its initial secret and its new secret.
    func exchange(
        _ kind: TicketKind, _ token: String, for stateToken: String, browser: (start: String, bound: String)?, context: RequestContext,
        _ change: (inout ClassicSignIn) -> Void
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await Result {
            let digest = TicketDigest(of: token)
            for _ in 0..<Self.attempts {
                let found = try await store.read { [self] view -> Result<ClassicState, ClassicRefusal> in
                    guard token.utf8.count <= 64, case (let stored, .fresh)? = try view.transaction(kind, secret: token, now: context.now)
                    else { return .failure(.invalidToken("\(kind.rawValue): unknown, used or too old")) }
                    do {
                        return .success(
                            try ClassicState(
                                stored, token: stateToken, browser: browser?.bound, snapshot: snapshot(view), view: view,
                                environment: environment, context: context))
                    } catch let refusal as ClassicRefusal {
                        return .failure(refusal)
                    }
                }
                let state = try found.get()
                // What was begun on a page goes on on pages, where it signs nobody in; so does an account that is set up by a mail.
                guard browser != nil || (state.classic.page == nil && state.classic.recovery?.isMailed != true) else {
                    throw ClassicRefusal.invalidToken("\(kind.rawValue): of a page")
                }
                var begun = state.transaction
                // It begins with the token: what ended all sessions before that does not concern it.
                begun.meet(state.user.value)
                if var classic = begun.classic {
                    change(&classic)
                    begun.classic = classic
                }
                // Known before the step: on a page nobody is signed in by it.
                begun.classic?.page = browser.map { RecoveryPage(in: $0.start, bound: $0.bound, continuing: state.classic.page) }
                var (next, outcome, effects) = begun.step(
                    .recoveryProved(hasQuestion: state.question != nil, state.subject), now: context.now)
                next.createdAt = context.now
                next.expiresAt = context.now.addingTimeInterval(ClassicSignIn.idleLifetime)
                let changes: [Change] = [.take(kind, digest: digest, now: context.now, gave: []), .issue(next.classicTicket(stateToken))]
                let answer = try await conclude(
                    next, outcome, effects, state, changes: changes, wrong: .invalidToken(kind.rawValue), context: context)
                if let answer { return answer }
            }
            throw StoreError(.unavailable, "The recovery met other writers \(Self.attempts) times. Try it again.")
        }
    }

    /// Takes the answer to the person's question.
    ///
    /// - Parameters:
    ///   - answer: As it was typed; nil if none was given.
    ///   - stateToken: Leads to the recovery.
    ///   - browser: The secret of the browser that it goes on in, on the hosted pages; nil at the API.
    ///   - context: When and from where it came.
    /// - Returns: Where the recovery stands; or a refusal: `E0000087`, `E0000069` after too many wrong answers.
    /// - Throws: ``StoreError`` if the store failed; `CancellationError`.
    public func classicRecoveryAnswer(
        _ answer: String?, stateToken: String, browser: String? = nil, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        var counted = false
        return try await classicStep(stateToken, browser: browser, context: context) { [self] state in
            guard state.status(of: state.transaction) == .recovery else {
                throw ClassicRefusal.notAllowed(in: state.status(of: state.transaction)?.rawValue ?? "none")
            }
            guard let answer else { throw ClassicRefusal.missing("answer") }
            if !counted {
                counted = true
                try countClassicAttempt(state, context: context)
            }
            let verifier = QuestionVerifier(environment: environment, enrollments: state.enrollments, origin: state.subject.origin)
            do {
                let verdict = try await verifier.verify(.answer(answer), of: state.user.value, policy: state.snapshot.passwordPolicy)
                let isRight = if case .proved = verdict { true } else { false }
                // A right one is right only if no wrong one came in between, with which the question may have closed.
                let isClosed = isRecoveryClosed(state, context, isAnswer: true)
                var step =
                    isClosed
                    ? state.transaction.step(.recoveryFailed("too many wrong codes and answers of all users together"), now: context.now)
                    : state.transaction.step(.recoveryAnswered(isRight: isRight, state.subject), now: context.now)
                // A repeated code must not give access to what the answer proved.
                if isRight { step.0.classic?.page?.acceptedCode = nil }
                return try await concludeGuess(
                    step, isWrong: !isRight && !isClosed && !state.user.value.isQuestionClosed(at: context.now), state, writesUser: isRight,
                    wrong: .wrongRecoveryAnswer, context: context)
            } catch is PasswordHasher.Overloaded {
                throw ClassicRefusal.busy(context)
            }
        }
    }

    /// Sets another password in place of one that was forgotten, and goes on with the sign-in.
    ///
    /// - Parameters:
    ///   - new: The password that the person wants.
    ///   - stateToken: Leads to the recovery.
    ///   - browser: The secret of the browser that it goes on in, on the hosted pages; nil at the API.
    ///   - context: When and from where it came.
    /// - Returns: Where the sign-in stands; or a refusal: `E0000080` for a password that will not do.
    /// - Throws: ``StoreError`` if the store failed; `CancellationError`.
    public func classicResetPassword(
        to new: String, stateToken: String, browser: String? = nil, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        var counted = false
        return try await classicStep(stateToken, browser: browser, context: context) { [self] state in
            guard state.status(of: state.transaction) == .passwordReset else {
                throw ClassicRefusal.notAllowed(in: state.status(of: state.transaction)?.rawValue ?? "none")
            }
            if !counted {
                counted = true
                try countClassicAttempt(state, context: context)
            }
            do {
                switch try await newPasswordCheck(
                    new, of: state.user.value, from: state.subject.origin, policy: state.snapshot.passwordPolicy, now: context.now
                ).judge()
                {
                case .refused(let rules):
                    var refusal = ClassicRefusal(
                        code: "E0000080", status: 403, summary: "The password does not meet the requirements.",
                        causes: [rules.map(\.violation).joined(separator: " ")], reason: "authn: password rules")
                    refusal.violatedRules = rules
                    throw refusal
                case .good(let hash):
                    let (next, outcome, effects) = state.transaction.step(.passwordReset(hash: hash, state.subject), now: context.now)
                    return try await conclude(next, outcome, effects, state, wrong: .wrongCode, context: context)
                }
            } catch is PasswordHasher.Overloaded {
                throw ClassicRefusal.busy(context)
            }
        }
    }
}

extension IdentityEngine {
    /// The digest by which a recovery on the pages recognizes its code.
    func acceptedDigest(of code: String, for transactionID: String) -> [UInt8] {
        environment.digest(ofCode: String(code.prefix(64).filter { $0 != " " }), enrollment: "accepted", owner: transactionID)
    }
}

extension ClassicState {
    /// The telephone that a recovery's code is sent to.
    func recoveryTelephone(_ channel: CodeChannel) -> Enrollment? {
        let active = allEnrollments.filter { $0.status == .active }
        return active.first { $0.code?.channel == channel } ?? active.first { $0.code?.destination.phoneNumber != nil }
    }

    /// The person's own question.
    var question: QuestionMethod? { enrollments.lazy.compactMap(\.question).first }
}

extension ClassicRefusal {
    static let wrongRecoveryCode = ClassicRefusal(
        code: "E0000068", status: 403, summary: "Invalid Passcode/Answer",
        causes: ["The token does not match. Check the code and try again."], reason: "recovery: wrong code")
    static let wrongRecoveryAnswer = ClassicRefusal(
        code: "E0000087", status: 403, summary: "The answer to the recovery question is wrong.", reason: "recovery: wrong answer")
}
