internal import Foundation

extension IdentityEngine {
    /// Takes a step that a person takes on a page.
    ///
    /// Whatever it comes to is committed and shown by the page, which the browser is sent to: a form that is sent twice, or again by
    /// going back, changes nothing that is decided.
    ///
    /// - Parameters:
    ///   - action: What they did.
    ///   - token: What the page's address names the sign-in by.
    ///   - formToken: What the form carried.
    ///   - browser: The browser's cookies.
    ///   - context: When and from where it came.
    /// - Returns: Where the browser goes, and what is to be sent.
    /// - Throws: ``StoreError`` if the store failed; `CancellationError`.
    public func signInStep(
        _ action: HostedAction, of token: String, formToken: String?, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        for _ in 0..<Self.attempts {
            let state: HostedState
            switch try await hostedState(token, browser: browser, mayProveAgain: true, context: context) {
            case .failure(let end): return HostedAnswer(.refused(HostedRefusal(end.reason)))
            case .success(let found): state = found
            }
            var answer = HostedAnswer(.goOn(token: token))
            guard FormToken.isRight(formToken, browser: state.browser, transaction: state.transaction.id) else {
                return state.isBound && state.isEarlierForm(formToken) ? answer : HostedAnswer(.refused(HostedRefusal(.otherBrowser)))
            }
            guard state.isBound else { return try await proveAgain(action, token: token, browser: browser, context: context) }
            let isMade: Bool
            switch action {
            case .restart:
                guard let restarted = try await restart(state, context: context) else { continue }
                return restarted
            case .consent(let isAllowed):
                guard state.transaction.end == .authenticated, state.hosted.refused == nil, state.needsConsent else { return answer }
                isMade = try await allow(isAllowed, state, context: context)
            case .device(let isAllowed):
                let plan = try deviceDecision(isAllowed, state, answer: answer, context: context)
                guard let decided = try await commit(plan, context: context) else { continue }
                return decided
            case _ where state.transaction.end != nil: return answer
            case .cancel: isMade = try await cancel(state, context: context)
            case .password(let login, let password):
                let verifier = PasswordVerifier(
                    environment: environment, origin: RequestOrigin(context, application: state.application, isOnPages: true))
                (isMade, answer.cookies.signIn) = try await answerFactor(
                    .password(password), as: login, state, token: token, context: context
                ) { _ in verifier }
            case .code(let code):
                // A second factor only: whose it could be is known then.
                guard !state.transaction.proofs.isEmpty else { return answer }
                (isMade, answer.cookies.signIn) = try await answerFactor(.code(code), as: "", state, token: token, context: context) {
                    [environment] in
                    TOTPVerifier(environment: environment, enrollments: $0, now: context.now)
                }
            case .newPassword(let password, let repeated):
                isMade = try await changePassword(password, repeated: repeated, state, context: context)
            case .sentCode(let code):
                guard let channel = state.hosted.sending, let enrollment = state.sendable(by: channel) else { return answer }
                if let until = enrollment.code?.closedUntil(at: context.now) {
                    isMade = try await note(.tooManyAttempts, until: until, state)
                } else {
                    (isMade, answer.cookies.signIn) = try await answerFactor(.code(code), as: "", state, token: token, context: context) {
                        [environment] in
                        CodeVerifier(
                            environment: environment, channel: channel, enrollments: $0, owner: state.transaction.id, now: context.now)
                    }
                }
            case .chooseAgain: isMade = try await chooseAgain(state, context: context)
            case .choose(.code): return answer
            case .choose(.sms), .choose(.voice), .choose(.email):
                guard case .choose(let factor) = action, let channel = factor.channel else { return answer }
                switch try await sendCode(by: channel, state, context: context) {
                case nil: isMade = false
                case let messages?:
                    answer.messages = messages
                    isMade = true
                }
            case .enroll:
                guard let begun = try await beginEnrollment(state, token: token, context: context) else { continue }
                return begun
            case .enrollPhone(let id):
                guard let begun = try await beginPhone(id, state, token: token, context: context) else { continue }
                return begun
            case .enrollCode(let channel):
                guard let begun = try await beginCode(channel, state, token: token, context: context) else { continue }
                return begun
            case .number(let text):
                guard let channel = state.hosted.number else { return answer }
                guard let begun = try await sendNumber(text, channel, state, token: token, context: context) else { continue }
                return begun
            case .chooseEnrollment: isMade = try await chooseEnrollment(state)
            case .confirmEnrollment(let code):
                if let pending = state.pendingCode(at: context.now) {
                    isMade = try await confirmCode(code, pending, state, context: context)
                } else {
                    isMade = try await confirmEnrollment(code, state, context: context)
                }
            case .choose(.push):
                switch try await startPush(state, token: token, browser: browser, context: context) {
                case nil: isMade = false
                case let pushes?:
                    answer.pushes = pushes
                    isMade = true
                }
            }
            if isMade { return answer }
        }
        throw StoreError(.unavailable, "The sign-in met other writers \(Self.attempts) times. Try it again.")
    }

    // MARK: - Ends and beginnings

    private func cancel(_ state: HostedState, context: RequestContext) async throws -> Bool {
        var (next, _, effects) = state.transaction.step(.cancelled, now: context.now)
        next.hosted?.refuse(Refusal(.accessDenied, "The person cancelled the sign-in.", reason: "cancelled on the page"))
        let log = try logEntries(effects, userID: next.userID, of: next, context: context)
        return try await store.commit(log + next.closingChallenge + [state.stored.writing(next)]) == .committed
    }

    /// Notes what the person allows, so that they are not asked again; or tells the client that they do not.
    private func allow(_ isAllowed: Bool, _ state: HostedState, context: RequestContext) async throws -> Bool {
        guard let user = state.user?.value else { return true }
        let request = state.hosted.request
        var next = state.transaction
        var changes = [
            try logEntry(
                "user.consent", isAllowed ? .success : .denied, reason: request.scopes.joined(separator: " "), userID: user.id,
                clientID: request.clientID, server: request.server, context: context)
        ]
        if isAllowed {
            var consent =
                state.consent
                ?? Consent(userID: user.id, clientID: request.clientID, server: request.server, scopes: [], updatedAt: context.now)
            consent.scopes += request.scopes.filter { !consent.scopes.contains($0) }
            consent.updatedAt = context.now
            changes.append(.put(try consent.record()))
            next.hosted?.isAllowed = true
        } else {
            next.hosted?.refuse(Refusal(.accessDenied, "The person did not allow the request.", reason: "consent: denied"))
        }
        return try await store.commit(changes + [state.stored.writing(next)]) == .committed
    }

    /// Begins the same request anew, without what was proved. The old transaction ends.
    func restart(_ state: HostedState, context: RequestContext) async throws -> HostedAnswer? {
        if let refused = countBeginning(snapshot: state.snapshot, context: context) { return refused }
        var changes: [Change] = []
        if state.transaction.end == nil {
            let (ended, _, effects) = state.transaction.step(.cancelled, now: context.now)
            changes += try logEntries(effects, userID: ended.userID, of: ended, context: context)
            changes += ended.closingChallenge + [try state.stored.writing(ended)]
        }
        var transaction = SignInTransaction(
            id: try environment.random.identifier(prefix: "txn"),
            request: SignInRequest(
                application: state.application, server: state.transaction.server, scopes: state.transaction.scopes,
                contextClasses: state.transaction.contextClasses), now: context.now, lifetime: HostedSignIn.lifetime)
        transaction.hosted = HostedSignIn(
            request: state.hosted.request, browser: state.hosted.browser.unproved, login: "", device: state.hosted.device)
        let token = try environment.random.secret()
        changes += [.put(try transaction.record()), .issue(transaction.stateTicket(token))]
        return try await store.commit(changes) == .committed ? HostedAnswer(.goOn(token: token)) : nil
    }

    // MARK: - Factors

    /// Lets a verifier, which is made for the person's usable enrolments, judge what was typed, and commits what it comes to:
    /// transaction, counters and log in one write.
    ///
    /// - Returns: Whether the page can be shown, `false` if another request committed first in every attempt; and the browser's new secret after the
    ///   first proof.
    private func answerFactor<Verifier: FactorVerifier>(
        _ response: FactorResponse, as typed: String, _ first: HostedState, token: String, context: RequestContext,
        by make: ([Enrollment]) -> Verifier
    ) async throws -> (isMade: Bool, secret: String?) {
        // Once somebody proved something, it is theirs: what else is typed as a name does not count.
        let login = first.user?.value.login ?? Self.possibleName(typed)
        let origin = RequestOrigin(context, application: first.application, isOnPages: true)
        let attempts = try await countFirstAttempt(login: login, from: origin, snapshot: first.snapshot, context: context)
        guard attempts.isAdmitted else {
            return (try await note(.tooManyAttempts, until: attempts.reset, first, login: login), nil)
        }
        var judged: (answering: Answering, verifier: Verifier, verdict: FactorVerdict)?
        for _ in 0..<1_000 {
            // A second submission of the same form may have bound the sign-in to a new secret: read it again.
            let isProved = judged?.verdict.isProved ?? false
            guard let found = try await answering(login, isProved: isProved, token: token, browser: first.secrets, context: context) else {
                return (false, nil)
            }
            // Another request finished the sign-in or used this factor: the page shows the current state.
            guard found.state.transaction.end == nil else { return (true, nil) }
            guard let known = judged, known.answering.hasSameSecrets(as: found, for: known.verifier.kind) else {
                let verifier = make(found.enrollments)
                if found.state.transaction.proofs.contains(where: { $0.factor == verifier.kind }) { return (true, nil) }
                do {
                    let policy = found.state.snapshot.passwordPolicy
                    let verdict = try await verifier.verify(response, of: found.person?.value, policy: policy)
                    judged = (found, verifier, verdict)
                } catch is PasswordHasher.Overloaded {
                    return (try await note(.busy, found.state, login: login), nil)
                }
                continue
            }
            if found.state.transaction.proofs.contains(where: { $0.factor == known.verifier.kind }) { return (true, nil) }
            let committed = try await commit(found, known.verdict, known.verifier, login: login, context: context)
            if committed.isMade { return committed }
        }
        return (false, nil)
    }

    /// A sign-in, and the person whose answer is judged, as one read finds them.
    private struct Answering: Sendable {
        var state: HostedState
        var person: StoredUser?
        var subject: SignInTransaction.Subject?
        var enrollments: [Enrollment] = []
        /// The account of the typed name, before any factor is proved.
        var account: NamedAccount?

        /// Whether what an answer was judged by is still what the store holds.
        func hasSameSecrets(as other: Answering, for kind: FactorKind) -> Bool {
            person?.value.passwordHash == other.person?.value.passwordHash && (kind == .password || enrollments == other.enrollments)
        }
    }

    /// Before the first factor is proved, the engine reads the same records for every typed name.
    private func answering(
        _ login: String, isProved: Bool, token: String, browser: BrowserSecrets, context: RequestContext
    ) async throws -> Answering? {
        try await store.read { [self] view in
            let state: HostedState
            do {
                state = try HostedState(
                    token, browser: BrowserSecrets(browser: browser.browser, signIn: browser.signIn), snapshot: snapshot(view), view: view,
                    context: context)
            } catch is HostedEnd {
                return nil
            }
            let account = try state.user == nil ? namedAccount(login, in: view) : nil
            guard let person = state.user ?? account?.user else { return Answering(state: state, account: account) }
            let origin = RequestOrigin(context, application: state.application, isOnPages: true)
            let isOpen = person.value.isOpen(to: origin, policy: state.snapshot.passwordPolicy, now: context.now)
            guard account == nil || isProved && isOpen else {
                let subject = SignInTransaction.Subject(
                    unproved: person.value, of: state.transaction, from: origin, snapshot: state.snapshot)
                return Answering(state: state, person: person, subject: subject, account: account)
            }
            let subject = try view.subject(person.value, of: state.transaction, snapshot: state.snapshot, from: context)
            return Answering(
                state: state, person: person, subject: subject, enrollments: subject?.enrollments.usable ?? [], account: account)
        }
    }

    private func commit(
        _ found: Answering, _ verdict: FactorVerdict, _ verifier: some FactorVerifier, login: String, context: RequestContext
    ) async throws -> (isMade: Bool, secret: String?) {
        var (next, outcome, effects) = found.state.transaction.step(
            .judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict, found.subject), now: context.now)
        var changes = try logEntries(effects, userID: found.person?.value.id, of: next, context: context)
        for effect in effects {
            switch effect {
            case .writeUser(let changed): if let person = found.person { changes.append(.put(try person.record(holding: changed))) }
            case .writeEnrollment(let used): changes += try used.changes()
            case .log: break
            }
        }
        next.hosted?.login = login
        next.hosted?.notice = nil
        var secret: String?
        if next.proofs.count > found.state.transaction.proofs.count {
            next.hosted?.sending = nil
            if !found.state.hosted.browser.isProved { secret = try bind(&next) }
        }
        switch outcome {
        case .authenticated(let proved): next.hosted?.authentication = proved
        case .tryAgain:
            if let account = found.account, !effects.writesUser { changes.append(try account.idleWrite()) }
            next.hosted?.notice = verifier.kind == .password ? .wrongCredentials : verifier.kind == .totp ? .wrongCode : .wrongSentCode
        case .refused(let refusal): next.hosted?.refuse(refusal)
        default: break
        }
        return (try await store.commit(changes + [found.state.stored.writing(next)]) == .committed, secret)
    }

    /// Leaves word for the page.
    func note(
        _ notice: HostedSignIn.Notice, until: Date? = nil, _ state: HostedState, login: String? = nil
    ) async throws -> Bool {
        var next = state.transaction
        next.hosted?.notice = notice
        next.hosted?.noticeUntil = until
        if let login { next.hosted?.login = login }
        guard next != state.transaction else { return true }
        return try await store.commit([state.stored.writing(next)]) == .committed
    }

    // MARK: - Pushes

    /// Asks the person's devices.
    ///
    /// - Returns: What is to be sent; nil if somebody else was faster.
    private func startPush(
        _ state: HostedState, token: String, browser: BrowserSecrets, context: RequestContext
    ) async throws -> [PushMessage]? {
        guard let user = state.user, let subject = state.subject, !state.transaction.proofs.isEmpty,
            case (_, .factorRequired(let grants), _) = state.transaction.proved(subject, "", []), grants.contains(GrantType.secondFactorOOB)
        else { return [] }
        // A form that was sent twice asks once.
        if state.transaction.isChallengeYoung(at: context.now) { return [] }
        if let challenge = state.transaction.challenge, let resendAt = challenge.resendTime(at: context.now) {
            return try await note(.pushSentJustNow, until: resendAt, state) ? [] : nil
        }
        var start = ChallengeStart(stored: state.stored, user: user, type: GrantType.secondFactorOOB)
        start.transaction.hosted?.notice = nil
        start.transaction.hosted?.sending = nil
        let admitted = AdmittedRequest(
            snapshot: state.snapshot, server: state.server, application: state.application, grantType: GrantType.authorizationCode,
            parameters: [:], context: context, assertionUse: nil)
        let planned = try await store.read { [self, start] view -> Result<PlannedChallenge, Refusal> in
            do {
                return .success(try plan(start, admitted, view))
            } catch let refusal as Refusal {
                return .failure(refusal)
            }
        }
        switch planned {
        case .failure(let refusal):
            let limit = refusal.rateLimit
            let isMade = try await note(limit == nil ? .noDevice : .tooManyChallenges, until: limit?.reset, state)
            return isMade ? [] : nil
        case .success(let plan):
            return try await commit(try commitment(of: plan, context: context), context: context)?.map(\.pushes).recovering([])
        }
    }
}

extension Result where Failure == Refusal {
    fileprivate func recovering(_ value: Success) -> Success { if case .success(let own) = self { own } else { value } }
}
