internal import Foundation
package import IdentityCore
internal import OAuthWire
internal import Store

extension Engine {
    /// Handles a form that the user submits on a page. Commits the result, then redirects to the page that shows it. A repeated submission
    /// does not change a decision.
    package func signInStep(
        _ action: HostedAction, of token: String, formToken: String?, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        try await HostedAnswer {
            try await transact(
                context,
                lookup: { [self] verdict in
                    lookup(action, of: token, browser: browser, isProved: verdict?.factor?.isProved ?? false)
                }
            ) { (reading: Reading<HostedStep.Verdict>) in
                let state = try HostedState(token, browser: browser, mayProveAgain: true, reading, context: context)
                guard FormToken.isRight(formToken, browser: state.browser, transaction: state.transaction.id) else {
                    throw state.isBound && state.isEarlierForm(formToken) ? EarlyAnswer(state.onward) : EarlyAnswer(.otherBrowser)
                }
                return try state.isBound ? state.step(action, reading) : state.reproof(action, reading)
            } check: { step in
                step.check
            } needsMore: { step, verdict in
                step.needsMore(verdict)
            } decide: { step, verdict in
                try step.plan(verdict)
            }
        }
    }
}

/// A step on the pages, prepared from the data of one read: its check and its plan.
struct HostedStep: Sendable {
    /// The verdict of a step's check.
    enum Verdict: Sendable {
        /// The step is within the limits, and nothing else was checked.
        case admitted
        /// The user made too many attempts.
        case limited(RateLimitStatus)
        /// Too many passwords wait to be hashed.
        case busy
        case factor(FactorVerdict)
        case password(NewPassword)
        case registration(Result<VerifiedPasskey, PasskeyFailure>)
        /// The hashes of new recovery codes.
        case hashes([String])
    }

    /// Counts an attempt once per request, and runs the slow check; `nil` if the step needs neither.
    let check: Check<Verdict>?
    /// Whether the decision needs another read, which gets the verdict.
    let needsMore: @Sendable (Verdict) -> Bool
    let plan: @Sendable (Verdict?) throws -> Plan<HostedAnswer>

    init(
        check: Check<Verdict>, needsMore: @escaping @Sendable (Verdict) -> Bool = { _ in false },
        plan: @escaping @Sendable (Verdict?) throws -> Plan<HostedAnswer>
    ) {
        (self.check, self.needsMore, self.plan) = (check, needsMore, plan)
    }

    /// A step without a check.
    init(_ plan: @escaping @Sendable () throws -> Plan<HostedAnswer>) {
        (check, needsMore, self.plan) = (nil, { _ in false }, { _ in try plan() })
    }
}

extension HostedState {
    /// Returns the step of an action. Further records that the action needs are read in the same read as the state.
    fileprivate func step(_ action: HostedAction, _ reading: Reading<HostedStep.Verdict>) throws -> HostedStep {
        switch action {
        case .restart: return restart()
        case .consent(let isAllowed): return HostedStep { try answerConsent(isAllowed) }
        case .device(let isAllowed):
            return HostedStep { try engine.deviceDecision(isAllowed, self, answer: onward, context: context) }
        case _ where transaction.end != nil: return unchanged
        case .cancel: return HostedStep { try cancel() }
        case .password(let login, let password):
            let origin = RequestOrigin(context, application: application, isOnPages: true)
            return try factor(
                .password(password), as: login, by: PasswordVerifier(environment: engine.environment, origin: origin),
                wrong: .wrongCredentials, reading)
        case .passkey(let response): return try passkey(response, reading)
        case .appCode(let code):
            // Only as a second factor: before the first proof the user is unknown.
            guard !transaction.proofs.isEmpty else { return unchanged }
            let verifier = TOTPVerifier(environment: engine.environment, enrollments: enrollments, now: now)
            return try factor(.code(code), by: verifier, wrong: .wrongCode, reading)
        case .sentCode(let code): return try sentCode(code, reading)
        case .newPassword(let password, let repeated): return changePassword(password, repeated: repeated, reading)
        case .chooseAgain: return HostedStep { try chooseAgain() }
        case .choose(.passkey): return HostedStep { try startPasskey() }
        case .choose(.push): return try startPush(reading)
        // The page of the choice has a field for the code.
        case .choose(.totp): return unchanged
        case .choose(.sms): return HostedStep { try sendCode(by: .sms) }
        case .choose(.voice): return HostedStep { try sendCode(by: .voice) }
        case .choose(.email): return HostedStep { try sendCode(by: .email) }
        case .choose(.savedCode): return HostedStep { try startSavedCode() }
        case .savedCode(let code): return try savedCode(code, reading)
        case .showCodes: return beginCodes()
        case .codesSaved: return try confirmCodes(reading)
        case .decline(let offer): return decline(offer)
        case .enroll: return try beginApp(reading)
        case .enrollPasskey: return beginPasskey()
        case .newPasskey(let response): return try confirmPasskey(response, reading)
        case .enrollPhone(let id): return beginPhone(id, reading)
        case .enrollCode(let channel): return beginCode(channel, reading)
        case .number(let text): return hosted.setupChannel.map { sendNumber(text, $0, reading) } ?? unchanged
        case .chooseEnrollment: return HostedStep { try chooseEnrollment() }
        case .confirmEnrollment(let code):
            return if let pendingCode { confirmCode(code, pendingCode, reading) } else { try confirmApp(code, reading) }
        }
    }

    /// A step that changes nothing: the page shows the current state.
    var unchanged: HostedStep { HostedStep { Plan(onward) } }

    /// Returns a step that counts an attempt of the user before its check. Over the limit, the page asks the user to wait.
    ///
    /// - Parameters:
    ///   - login: The user name that the page shows afterwards; `nil` for no change.
    ///   - count: Counts the attempt; `nil` counts it for the user of the sign-in.
    ///   - check: The check of the attempt. It does not run over the limit.
    ///   - needsMore: Whether the decision needs another read, which gets the verdict.
    ///   - plan: Returns the plan. It does not run over the limit.
    func attempt(
        _ reading: Reading<HostedStep.Verdict>, login: String? = nil, count: (@Sendable () -> RateLimitStatus)? = nil,
        check: Check<HostedStep.Verdict> = Check(of: "attempt") { .admitted },
        needsMore: @escaping @Sendable (HostedStep.Verdict) -> Bool = { _ in false },
        plan: @escaping @Sendable (HostedStep.Verdict) throws -> Plan<HostedAnswer>
    ) -> HostedStep {
        HostedStep(check: counted(check, reading, by: count ?? countAttempt), needsMore: needsMore) { verdict in
            switch verdict {
            case .limited(let status): try note(.tooManyAttempts, until: status.reset, login: login)
            case .busy: try note(.busy, login: login)
            case let verdict: try plan(verdict ?? .admitted)
            }
        }
    }

    /// Returns a check that counts the attempt, and then runs `check`. If `reading` already has a verdict, the attempt is not counted
    /// again.
    func counted(
        _ check: Check<HostedStep.Verdict>, _ reading: Reading<HostedStep.Verdict>?, by count: @escaping @Sendable () -> RateLimitStatus
    ) -> Check<HostedStep.Verdict> {
        let known = reading?.verdict
        return check.map { judge in
            if let known {
                if case .limited = known { return known }
            } else {
                let status = count()
                guard status.isAdmitted else { return .limited(status) }
            }
            do { return try await judge() } catch is PasswordHasher.Overloaded { return .busy }
        }
    }

    @Sendable
    func countAttempt() -> RateLimitStatus {
        engine.countAttempt(
            login: user?.value.login ?? "", of: user?.value, from: subject?.origin ?? .unknown, snapshot: snapshot, context: context)
    }

    func note(_ notice: HostedSignIn.Notice, until: Date? = nil, login: String? = nil) throws -> Plan<HostedAnswer> {
        var next = transaction
        next.hosted?.notice = notice
        next.hosted?.noticeUntil = until
        if let login { next.hosted?.login = login }
        return try next == transaction ? Plan(onward) : moving(to: next)
    }

    private func cancel() throws -> Plan<HostedAnswer> {
        var (next, _, effects) = transaction.step(.cancelled, now: now)
        next.hosted?.refuse(Refusal(.accessDenied, "The user cancelled the sign-in.", reason: "cancelled on the page"))
        return try moving(to: next, Writes(effects, of: next, user: nil) + next.closingChallenge)
    }

    /// Stores the user's consent, or refuses the request of the client.
    private func answerConsent(_ isAllowed: Bool) throws -> Plan<HostedAnswer> {
        guard transaction.end == .authenticated, hosted.refused == nil, needsConsent, let user = user?.value else { return Plan(onward) }
        var next = transaction
        var writes = Writes()
        writes.log(
            "user.consent", isAllowed ? .success : .denied, reason: request.scopes.joined(separator: " "), userID: user.id,
            clientID: request.clientID, server: request.server)
        if isAllowed {
            var consent =
                consent ?? Consent(userID: user.id, clientID: request.clientID, server: request.server, scopes: [], updatedAt: now)
            consent.scopes += request.scopes.filter { !consent.scopes.contains($0) }
            consent.updatedAt = now
            writes += [.put(try consent.record())]
            next.hosted?.isAllowed = true
        } else {
            next.hosted?.refuse(Refusal(.accessDenied, "The user denied the request.", reason: "consent: denied"))
        }
        return try moving(to: next, writes)
    }

    /// Cancels this sign-in if it has not ended, and starts a new one for the same request, without proofs.
    func restart() -> HostedStep {
        let check = Check(of: "beginning") {
            try engine.admitBeginning(snapshot: snapshot, context: context)
            return HostedStep.Verdict.admitted
        }
        return HostedStep(check: check) { _ in
            var writes = Writes()
            if transaction.end == nil {
                let (ended, _, effects) = transaction.step(.cancelled, now: now)
                writes = try Writes(effects, of: ended, user: nil) + ended.closingChallenge + [stored.writing(ended)]
            }
            let random = engine.environment.random
            var next = try SignInTransaction(
                SignInRequest(
                    onPagesOf: application, server: transaction.server, scopes: transaction.scopes,
                    contextClasses: transaction.contextClasses),
                answering: request, hosted: HostedSignIn(browser: hosted.browser.unproved, login: "", device: hosted.device),
                random: random, now: now)
            try next.acceptPasskey(snapshot.pagePasskeys, random)
            let token = try random.secret()
            return Plan(HostedAnswer(.redirect(token: token)), writes + [.put(try next.record()), .issue(next.stateTicket(token))])
        }
    }
}

extension HostedSignIn {
    /// Stores a refusal, so that the server sends it to the client.
    ///
    /// Refusals that concern only this sign-in (an expired token, a changed account) are not stored: the page shows an error, and the user
    /// starts again.
    mutating func refuse(_ refusal: Refusal) {
        guard refusal.code != .invalidGrant, refusal.code != .expiredToken else { return }
        refused = Refused(error: refusal.code.wireName, description: refusal.description)
    }
}
