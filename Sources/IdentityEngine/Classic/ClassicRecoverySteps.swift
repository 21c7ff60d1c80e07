internal import Foundation

/// The steps of a recovery (authn reference 4.4, 4.11 and 4.12).
extension IdentityEngine {
    /// Checks the code that was sent.
    ///
    /// - Parameters:
    ///   - passCode: The code as it was typed; `nil` for none.
    ///   - stateToken: The state token of the recovery.
    ///   - browser: The secret of the browser on the hosted pages; `nil` at the API.
    ///   - nextSecret: The secret that replaces `browser` after the correct code; `nil` at the API.
    ///   - context: The request.
    /// - Returns: The state; or a refusal: `E0000068`, `E0000069` after too many wrong codes.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicRecoveryVerify(
        passCode: String?, stateToken: String, browser: String? = nil, nextSecret: String? = nil, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await countingWrongGuess(context) {
            try await classicStep(stateToken, browser: browser, context: context) { [self] state in
                let channel = try state.recoveryChannel
                guard let passCode else { throw ClassicRefusal.missing("passCode") }
                return try verify(passCode, sentBy: channel, nextSecret: nextSecret, state)
            }
        }
    }

    private func verify(
        _ passCode: String, sentBy channel: CodeChannel, nextSecret: String?, _ state: ClassicState
    ) throws -> ClassicPlan {
        let (transaction, now) = (state.transaction, state.context.now)
        // If the recovery is closed, the code is compared with a dummy, so that the work is the same.
        let enrollment = isRecoveryClosed(state) ? nil : state.recoveryTelephone(channel)
        let verifier = CodeVerifier(
            environment: environment, channel: enrollment?.code?.channel ?? channel, enrollments: enrollment.map { [$0] } ?? [],
            owner: transaction.id, now: now, occasion: .anybody)
        switch verifier.verify(.code(passCode), of: state.user.value, policy: state.snapshot.passwordPolicy) {
        case .proved(_, let used):
            var step = transaction.step(.recoveryProved(hasQuestion: state.question != nil, state.subject), now: now)
            if let nextSecret {
                step.0.classic?.page?.browser.bind(to: nextSecret)
                step.0.classic?.page?.acceptedCode = acceptedDigest(of: passCode, for: transaction.id)
            }
            let writes = Writes(try used?.changes() ?? [])
            return try state.conclude(step, writes: writes, nextSecret: nextSecret, wrong: .wrongRecoveryCode)
        case .wrong(let counted):
            let step = transaction.step(.recoveryCodeWrong(state.subject), now: now)
            return try state.conclude(step, writes: Writes([.put(try counted.record())]), wrong: .wrongRecoveryCode)
                .map { $0.mapError(state.countedGuess) }
        case .failed:
            let step = transaction.step(.recoveryFailed("wrong code, or nobody's"), now: now)
            return try state.conclude(step, wrong: .wrongRecoveryCode)
        }
    }

    /// Whether codes or answers of this recovery are ignored: after too many wrong codes of this user, or, at an unknown origin, after too many
    /// wrong codes of all users.
    private func isRecoveryClosed(_ state: ClassicState, isAnswer: Bool = false) -> Bool {
        let (user, now) = (state.user.value, state.context.now)
        if !isAnswer, user.guessedCodes?.isClosed(at: now) == true { return true }
        return !user.knows(state.subject.origin) && recoveryBudget.isSpent(limit: state.snapshot.rateLimits.recoveryGuesses, now: now)
    }

    /// Runs a step. After its commit, counts a wrong guess against the limit of the organization.
    private func countingWrongGuess(
        _ context: RequestContext, _ step: () async throws -> Result<ClassicAnswer, ClassicRefusal>
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        let answer = try await step()
        guard case .failure(let refusal) = answer, let limit = refusal.guessLimit else { return answer }
        report(.wrongRecoveryGuess)
        if recoveryBudget.count(limit: limit, now: context.now) {
            var writes = Writes()
            let reason = "\(limit) wrong codes and answers in recoveries within an hour; no more are looked at from unknown origins"
            writes.log("security.recovery.budget", .denied, reason: reason)
            try await write(writes, context: context)
            report(.recoveryBudgetSpent)
        }
        return answer
    }

    /// Sends the code again. The answer is the same if none can be sent.
    ///
    /// - Parameters:
    ///   - stateToken: The state token of the recovery.
    ///   - browser: The secret of the browser on the hosted pages; `nil` at the API.
    ///   - context: The request.
    /// - Returns: The state; or a refusal: a limit, `E0000079`.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicRecoveryResend(
        stateToken: String, browser: String? = nil, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, browser: browser, context: context) { [self] state, _ in
            let channel = try state.recoveryChannel
            let pace = recoveryPacer.refusal(
                channel, to: state.transaction.id, .anybody, limit: nil, requestID: context.requestID, now: context.now)
            if let pace { throw ClassicRefusal(pace, context: context) }
            return channel
        } decide: { [self] state, channel in
            var writes = Writes()
            var messages: [OutgoingMessage] = []
            if !isRecoveryClosed(state), let enrollment = state.recoveryTelephone(channel) {
                let request = CodeRequest(
                    purpose: state.classic.recovery?.kind == .unlock ? .unlock : .recovery, owner: state.transaction.id, channel: channel)
                do {
                    let prepared = try prepareCode(
                        request, for: enrollment, of: state.user.value, snapshot: state.snapshot, context: context)
                    (writes, messages) = (prepared.writes, [prepared.message])
                } catch let refusal as CodeRefusal {
                    writes.log(unsent: refusal, to: state.user.value)
                }
            } else {
                // Does the same work for an unknown user name.
                writes.log("user.mfa.code.send", .denied, reason: "\(channel.rawValue): nothing that could be reached")
            }
            return try state.show(state.transaction, writes: writes).answering { $0.messages = messages }
        }
    }

    /// Exchanges the token that was mailed, or given to a back end.
    ///
    /// - Parameters:
    ///   - token: The single-use token.
    ///   - enrollsOptional: Whether the client wants optional factors to be offered, one after the other.
    ///   - context: The request.
    /// - Returns: The state; or `E0000011`.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicRecoveryToken(
        _ token: String, enrollsOptional: Bool = false, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await exchange(.recoveryToken, token, context: context) { $0.enrollsOptional = enrollsOptional }
    }

    /// Exchanges a single-use token for a sign-in, which starts with this exchange.
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
        let step = try await transact(context, refusing: ClassicRefusal.self) { [environment] reading in
            guard token.utf8.count <= 64, case (let stored, .fresh)? = try reading.view.transaction(kind, secret: token, now: context.now)
            else { throw ClassicRefusal.invalidToken("\(kind.rawValue): unknown, used or too old") }
            return try ClassicState(
                stored, token: stateToken, browser: browser?.bound, snapshot: reading.snapshot, view: reading.view,
                environment: environment, context: context)
        } decide: { state in
            // A recovery from a page, and an activation by mail, continue on pages only, where they do not sign the user in.
            guard browser != nil || (state.classic.page == nil && state.classic.recovery?.isMailed != true) else {
                throw ClassicRefusal.invalidToken("\(kind.rawValue): of a page")
            }
            var begun = state.transaction
            // The sign-in starts now. Ending all sessions before this request does not cancel it.
            begun.meet(state.user.value)
            if var classic = begun.classic {
                change(&classic)
                begun.classic = classic
            }
            // Set before the step, because a recovery on a page does not end in a session token.
            begun.classic?.page = browser.map { RecoveryPage(in: $0.start, bound: $0.bound, continuing: state.classic.page) }
            var step = begun.step(.recoveryProved(hasQuestion: state.question != nil, state.subject), now: context.now)
            step.0.createdAt = context.now
            step.0.expiresAt = context.now.addingTimeInterval(ClassicSignIn.idleLifetime)
            let changes: [Change] = [
                .take(kind, digest: TicketDigest(of: token), now: context.now, gave: []), .issue(step.0.classicTicket(stateToken)),
            ]
            return try state.conclude(step, writes: Writes(changes), wrong: .invalidToken(kind.rawValue))
        }
        return try await finish(step, context: context)
    }

    /// Checks the answer to the user's security question.
    ///
    /// - Parameters:
    ///   - answer: The answer as it was typed; `nil` for none.
    ///   - stateToken: The state token of the recovery.
    ///   - browser: The secret of the browser on the hosted pages; `nil` at the API.
    ///   - context: The request.
    /// - Returns: The state; or a refusal: `E0000087`, `E0000069` after too many wrong answers.
    /// - Throws: ``StoreError`` if the store failed; `CancellationError`.
    public func classicRecoveryAnswer(
        _ answer: String?, stateToken: String, browser: String? = nil, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await countingWrongGuess(context) {
            try await classicStep(stateToken, browser: browser, context: context) { [self] state, _ in
                try state.require(.recovery)
                guard let answer else { throw ClassicRefusal.missing("answer") }
                try countClassicAttempt(state)
                return answer
            } check: { [self] state, answer in
                let verifier = QuestionVerifier(environment: environment, enrollments: state.enrollments, origin: state.subject.origin)
                return state.check(.answer(answer), by: verifier)
            } decide: { [self] state, _, verdict in
                try answered(isRight: verdict?.get().isProved ?? false, state)
            }
        }
    }

    private func answered(isRight: Bool, _ state: ClassicState) throws -> ClassicPlan {
        let (transaction, now) = (state.transaction, state.context.now)
        let isClosed = isRecoveryClosed(state, isAnswer: true)
        var step =
            isClosed
            ? transaction.step(.recoveryFailed("too many wrong codes and answers of all users together"), now: now)
            : transaction.step(.recoveryAnswered(isRight: isRight, state.subject), now: now)
        // A repeated code must not give access to what the answer proved.
        if isRight { step.0.classic?.page?.acceptedCode = nil }
        // A concurrent wrong answer, which may close the question, causes a conflict.
        let condition = isRight && !step.2.writesUser ? [state.user.unchanged] : []
        let plan = try state.conclude(step, writes: Writes(condition), wrong: .wrongRecoveryAnswer)
        let isCounted = !isRight && !isClosed && !state.user.value.isQuestionClosed(at: now)
        return isCounted ? plan.map { $0.mapError(state.countedGuess) } : plan
    }

    /// Sets a new password in place of a forgotten one, and continues the sign-in.
    ///
    /// - Parameters:
    ///   - new: The new password as it was typed.
    ///   - stateToken: The state token of the recovery.
    ///   - browser: The secret of the browser on the hosted pages; `nil` at the API.
    ///   - context: The request.
    /// - Returns: The state; or a refusal: `E0000080` for an unacceptable password.
    /// - Throws: ``StoreError`` if the store failed; `CancellationError`.
    public func classicResetPassword(
        to new: String, stateToken: String, browser: String? = nil, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, browser: browser, context: context) { [self] state, _ in
            try state.require(.passwordReset)
            try countClassicAttempt(state)
        } check: { [self] state, _ in
            newPasswordCheck(new, state).refusingOverload(context)
        } decide: { state, _, verdict in
            switch try verdict?.get() ?? .refused([]) {
            case .refused(let rules): throw ClassicRefusal.unacceptablePassword(rules)
            case .good(let hash):
                return try state.conclude(
                    state.transaction.step(.passwordReset(hash: hash, state.subject), now: context.now), wrong: .wrongCode)
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
    /// The channel of the code that a recovery asks for; throws ``ClassicRefusal`` if it asks for none.
    fileprivate var recoveryChannel: CodeChannel {
        get throws(ClassicRefusal) {
            try require(.recoveryChallenge)
            guard let channel = classic.recovery?.channel else {
                throw .notAllowed(in: ClassicTransaction.Status.recoveryChallenge.rawValue)
            }
            return channel
        }
    }

    /// The refusal of a wrong guess that counts for the whole organization.
    fileprivate func countedGuess(_ refusal: ClassicRefusal) -> ClassicRefusal {
        var refusal = refusal
        refusal.guessLimit = snapshot.rateLimits.recoveryGuesses
        return refusal
    }

    /// The telephone to which a recovery sends its code.
    func recoveryTelephone(_ channel: CodeChannel) -> Enrollment? {
        let active = allEnrollments.filter { $0.status == .active }
        return active.first { $0.code?.channel == channel } ?? active.first { $0.code?.destination.phoneNumber != nil }
    }

    /// The user's security question.
    var question: QuestionMethod? { enrollments.lazy.compactMap(\.question).first }
}

extension ClassicRefusal {
    fileprivate static func unacceptablePassword(_ rules: [PasswordRule]) -> ClassicRefusal {
        var refusal = ClassicRefusal(
            code: "E0000080", status: 403, summary: "The password does not meet the requirements.",
            causes: [rules.map(\.violation).joined(separator: " ")], reason: "authn: password rules")
        refusal.violatedRules = rules
        return refusal
    }

    static let wrongRecoveryCode = ClassicRefusal(
        code: "E0000068", status: 403, summary: "Invalid Passcode/Answer",
        causes: ["The token does not match. Check the code and try again."], reason: "recovery: wrong code")
    static let wrongRecoveryAnswer = ClassicRefusal(
        code: "E0000087", status: 403, summary: "The answer to the recovery question is wrong.", reason: "recovery: wrong answer")
}
