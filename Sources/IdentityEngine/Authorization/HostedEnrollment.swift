internal import Foundation

/// Setting up an authenticator app in the middle of a sign-in: for who has no second factor yet, where the policy asks for two.
///
/// The same ceremony as elsewhere, with what was proved so far as its permission; the code that confirms it counts as the second factor.
extension IdentityEngine {
    /// Begins it, or begins it anew with another secret.
    ///
    /// - Returns: Where the browser goes; nil if somebody else was faster.
    func beginEnrollment(_ state: HostedState, token: String, context: RequestContext) async throws -> HostedAnswer? {
        guard state.canEnroll, let user = state.user, let authentication = state.provedSoFar,
            state.snapshot.enrollable(for: user.value).contains(.app)
        else { return HostedAnswer(.goOn(token: token)) }
        switch try await beginTOTPEnrollment(authentication, context: context) {
        case .failure:
            // Proved too long ago, as with an old session, or not allowed any more: from the beginning.
            return try await restart(state, context: context)
        case .success(let offer):
            var next = state.transaction
            next.hosted?.stopEnrolling()
            next.hosted?.enrolling = offer.id
            let changes = try state.closingPhone + [state.stored.writing(next)]
            return try await store.commit(changes) == .committed ? HostedAnswer(.goOn(token: token)) : nil
        }
    }

    /// Confirms it by a code; the app is the person's in the same write as the sign-in goes on.
    ///
    /// - Returns: Whether the page can show what came of it; false if somebody else was faster.
    func confirmEnrollment(_ code: String, _ state: HostedState, context: RequestContext) async throws -> Bool {
        guard state.canEnroll, let authentication = state.provedSoFar, let user = state.user, let subject = state.subject else {
            return true
        }
        guard let pending = state.pendingApp(at: context.now) else { return try await note(.lateCode, state) }
        let attempts = countAttempt(
            login: user.value.login, of: user.value, from: state.subject?.origin ?? .unknown, snapshot: state.snapshot, context: context)
        guard attempts.isAdmitted else {
            return try await note(.tooManyAttempts, until: attempts.reset, state)
        }
        let writes = try await store.read { [self] view -> Writes? in
            do {
                return try AuthenticatorAppSetup(authentication, isBegun: true, view, snapshot(view), environment, now: context.now)
                    .confirmation(id: pending.id, code: code)
            } catch is Refusal {
                return nil
            }
        }
        guard let writes else { return try await note(.wrongCode, state) }
        var (next, outcome, effects) = state.transaction.step(.enrolled(.totp, .possession, methods: ["otp"], subject), now: context.now)
        next.hosted?.enrolling = nil
        next.hosted?.notice = nil
        switch outcome {
        case .authenticated(let proved): next.hosted?.authentication = proved
        case .refused(let refusal): next.hosted?.refuse(refusal)
        default: break
        }
        let log = try logEntries(effects, userID: user.value.id, of: next, context: context)
        return try await store.commit(changes(of: writes, context: context) + log + [state.stored.writing(next)]) == .committed
    }

    /// The page on which an app is set up: what to scan, once that was asked for.
    func enrollmentPage(_ state: HostedState, context: RequestContext) throws -> HostedAnswer {
        let choices = state.user.map { state.snapshot.enrollable(for: $0.value) } ?? []
        if let phone = try phoneOffer(state, context: context) { return state.page(.phone(phone, canAddApp: choices.contains(.app))) }
        if let channel = state.hosted.number, choices.contains(.code(channel)) {
            if let code = state.pendingCode(at: context.now)?.code {
                return state.page(.confirmNumber(channel, destination: code.destination.masked))
            }
            // A mailbox is known: what waited too long is chosen anew.
            if channel != .email { return state.page(.enrollNumber(channel)) }
        }
        guard let user = state.user, let pending = state.pendingApp(at: context.now), let totp = pending.totp,
            let until = pending.pendingUntil
        else { return state.page(.enrollment(nil, choices: choices)) }
        let offer = TOTPEnrollmentOffer(
            id: pending.id, secret: try totp.secret(ofEnrollment: pending.id, environment: environment),
            issuer: state.snapshot.organization.name, account: user.value.login, expiresAt: until)
        return state.page(.enrollment(offer, choices: choices))
    }
}

extension HostedState {
    /// Whether what is missing is a second factor, of which the person has none.
    var canEnroll: Bool {
        guard transaction.end == nil, !transaction.proofs.isEmpty, let subject else { return false }
        if case (_, .enrollmentRequired, _) = transaction.proved(subject, "", []) { return true }
        return false
    }

    /// What was proved, as the ceremony wants to know it.
    fileprivate var provedSoFar: AuthenticationContext? {
        guard let user, let last = transaction.proofs.last else { return nil }
        return AuthenticationContext(
            userID: user.value.id, time: last.time, earliestTime: transaction.proofs.map(\.time).min(),
            methods: transaction.proofs.flatMap(\.methods))
    }

    /// The app that waits for its code; nil if there is none, or it is too late.
    fileprivate func pendingApp(at now: Date) -> Enrollment? {
        guard let pending, pending.totp != nil, pending.status == .pending, let until = pending.pendingUntil, now < until else {
            return nil
        }
        return pending
    }
}
