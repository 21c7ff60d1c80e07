internal import Foundation
internal import IdentityCore

/// The enrollment of an authenticator app during a sign-in, if the policy requires a second factor and the user has none. The proofs of the
/// sign-in permit it, and the confirming code counts as the second factor.
extension HostedState {
    /// Starts the setup, or starts it again with another secret.
    func beginApp(_ reading: Reading<HostedStep.Verdict>) throws -> HostedStep {
        guard enrollable.contains(.app), let authentication = provedSoFar else { return unchanged }
        let setup: AuthenticatorAppSetup
        do {
            setup = try AuthenticatorAppSetup(authentication, reading.view, snapshot, engine.environment, now: now)
        } catch is Refusal {
            // The proofs are too old, as with an old session, or no longer permit the setup.
            return restart()
        }
        return HostedStep {
            let (offer, writes) = try setup.offer(of: .google)
            var next = transaction
            next.stopEnrolling()
            next.hosted?.awaited = .setupCode(enrollmentID: offer.id, nil)
            return try moving(to: next, writes + transaction.closingPhone)
        }
    }

    /// Confirms the app by a code, and continues the sign-in in the same commit.
    func confirmApp(_ code: String, _ reading: Reading<HostedStep.Verdict>) throws -> HostedStep {
        guard canEnroll, let authentication = provedSoFar, let subject else { return unchanged }
        guard let pending = pendingApp else { return HostedStep { try note(.lateCode) } }
        let setup: AuthenticatorAppSetup?
        do {
            setup = try AuthenticatorAppSetup(authentication, isBegun: true, reading.view, snapshot, engine.environment, now: now)
        } catch is Refusal { setup = nil }
        return attempt(reading) { _ in
            let writes: Writes?
            do { writes = try setup?.confirmation(id: pending.id, code: code) } catch is Refusal { writes = nil }
            guard let writes else { return try note(.wrongCode) }
            var (next, outcome, effects) = transaction.step(.enrolled(.totp, .possession, methods: ["otp"], subject), now: now)
            next.hosted?.stopEnrolling()
            next.record(outcome)
            return try moving(to: next, writes + Writes(effects, of: next, user: nil))
        }
    }

    /// Returns the page on which a second factor is set up.
    func enrollmentPage() throws -> HostedAnswer {
        let choices = enrollable
        if let passkey = try newPasskeyPage(choices) { return passkey }
        if let phone = try phoneOffer() { return page(.phone(phone, canAddApp: choices.contains(.app))) }
        if let channel = hosted.setupChannel, choices.contains(.code(channel)) {
            if let code = pendingCode?.sentCode { return page(.confirmNumber(channel, destination: code.destination.masked)) }
            // A mail address needs no input: after the code's expiry, the page offers the choice again.
            if channel != .email { return page(.enrollNumber(channel)) }
        }
        guard let user, let pending = pendingApp, let totp = pending.totp, let until = pending.pendingUntil else {
            return page(.enrollment(nil, choices: choices))
        }
        let offer = TOTPEnrollmentOffer(
            id: pending.id, secret: try totp.secret(ofEnrollment: pending.id, environment: engine.environment),
            issuer: snapshot.organization.name, account: user.value.login, expiresAt: until)
        return page(.enrollment(offer, choices: choices))
    }

    /// Whether the user must set up a second factor, because they have none.
    var canEnroll: Bool {
        guard transaction.end == nil, !transaction.proofs.isEmpty, let subject else { return false }
        return transaction.requirement(for: subject) == .enrollment
    }

    /// The factors that the user can set up now, in the order of the page.
    var enrollable: [HostedEnrollment] {
        guard canEnroll, let subject else { return [] }
        return snapshot.enrollable(for: subject, in: transaction)
    }

    /// The proofs of this sign-in, in the form that the setup of an authenticator app needs; `nil` without a proof.
    private var provedSoFar: AuthenticationContext? {
        guard let user, let last = transaction.proofs.last else { return nil }
        return AuthenticationContext(
            userID: user.value.id, time: last.time, earliestTime: transaction.proofs.map(\.time).min(),
            methods: transaction.proofs.flatMap(\.methods))
    }

    /// The app that awaits its code; `nil` for none, and after the expiry.
    private var pendingApp: Enrollment? {
        guard let pending, pending.totp != nil, pending.status == .pending, let until = pending.pendingUntil, now < until else {
            return nil
        }
        return pending
    }
}
