internal import Foundation
internal import IdentityCore
internal import JOSE
internal import Store
internal import WebAuthn

/// A passkey that awaits its registration.
struct PendingPasskey: Sendable, Equatable, Codable {
    /// The id of the new factor.
    var id: String
    /// The challenge that the authenticator must sign.
    var challenge: PasskeyChallenge
}

extension ClassicSignIn {
    /// The name in place of a factor's id if the user may answer with any passkey (Documentation/Protocol/Authn.md §5.11).
    static let passkeysByType = "webauthn"
}

/// The view of passkeys (Documentation/Protocol/Authn.md §5.10 and §5.11).
extension ClassicState {
    /// The user's passkeys that meet the current requirement.
    private var passkeys: [Enrollment] { presentable.filter { $0.passkey != nil } }

    /// The number of the user's passkeys, usable or not.
    var passkeyCount: Int { subject.enrollments.held.count { $0.passkey != nil } }

    /// Whether the user selected all passkeys by their type.
    func hasSelectedByType(in transaction: SignInTransaction) -> Bool {
        transaction.classic?.selected == ClassicSignIn.passkeysByType && !passkeys.isEmpty
    }

    /// Returns the passkeys that a path names by the id of a factor or by the type; `nil` if it names another factor. Throws
    /// ``ClassicRefusal`` if the user cannot present them now.
    func passkeys(named name: String) throws(ClassicRefusal) -> [Enrollment]? {
        try requirePresenting()
        let named = passkeys.filter { name == ClassicSignIn.passkeysByType || $0.classicID == name }
        if named.isEmpty, name == ClassicSignIn.passkeysByType { throw .unknownFactor }
        return named.isEmpty ? nil : named
    }

    /// Shows the challenge for the selected passkey.
    func showPasskey(in shown: inout ClassicTransaction, _ transaction: SignInTransaction) {
        shown.challengeType = .factor
        shown.factor?.challenge = openChallenge(transaction)
        shown.factorResult = shown.factor?.challenge == nil ? .timeout : .challenge
        shown.next = .verify
    }

    /// Shows the challenge for every passkey.
    func showPasskeys(in shown: inout ClassicTransaction, _ transaction: SignInTransaction) {
        shown.challengeType = .factorType
        shown.factors = passkeys.map { factor($0) }
        shown.challenge = openChallenge(transaction)
        shown.factorResult = shown.challenge == nil ? .timeout : .challenge
        shown.next = .verify
    }

    private func openChallenge(_ transaction: SignInTransaction) -> ClassicPasskeyChallenge? {
        guard let open = transaction.passkeyChallenge, context.now < open.expiresAt, let policy = snapshot.organization.passkeys else {
            return nil
        }
        return ClassicPasskeyChallenge(
            challenge: open.secret, rpID: policy.rpID(origin: snapshot.origin),
            userVerification: open.requiresUserVerification ? .required : .preferred)
    }

    /// Plans a new challenge for passkeys. An open challenge and a pending push become invalid.
    func challenge(_ passkeys: [Enrollment], selecting name: String) throws -> ClassicPlan {
        guard let policy = snapshot.organization.passkeys else { throw ClassicRefusal.unknownFactor }
        var next = transaction
        let closing = next.closingChallenge
        next.withdrawChallenge(now: context.now)
        next.classic?.selected = name
        next.passkeyChallenge = PasskeyChallenge(
            secret: Base64URL.encode(try environment.random.bytes(32)), credentials: passkeys.map(\.id),
            requiresUserVerification: policy.mustVerifyUser(subject, in: transaction),
            expiresAt: context.now.addingTimeInterval(PasskeyChallenge.lifetime))
        return try show(next, writes: Writes(closing))
    }

    /// Plans the step of a passkey's signature.
    func answer(_ assertion: PasskeyAssertion, of passkeys: [Enrollment], remembers: Bool) throws -> ClassicPlan {
        let verifier = PasskeyVerifier(
            snapshot: snapshot, challenge: transaction.passkeyChallenge, enrollments: passkeys, now: context.now)
        let verdict = verifier.verify(.assertion(assertion), of: user.value, policy: snapshot.passwordPolicy)
        return try answered(verdict, by: verifier, remembers: remembers, wrong: .wrongPasskey())
    }
}

/// The response of an authenticator to the options of a registration (Documentation/Protocol/Authn.md §4.6).
package struct ClassicRegistration: Sendable {
    /// The exact bytes of the client data, which are signed.
    package var clientData: [UInt8]
    /// The attestation object.
    package var attestation: [UInt8]

    package init(clientData: [UInt8], attestation: [UInt8]) { (self.clientData, self.attestation) = (clientData, attestation) }
}

/// The enrollment of passkeys (Documentation/Protocol/Authn.md §5.10).
extension ClassicState {
    /// Returns the setup of another passkey; throws ``ClassicRefusal`` if the user has too many.
    func passkeySetup() throws -> PasskeySetup {
        do {
            return try PasskeySetup(user, allEnrollments, snapshot, environment, now: context.now)
        } catch let refusal {
            throw ClassicRefusal.invalid("factorEnrollRequest", ["factorType: \(refusal.description)"])
        }
    }

    /// Returns the passkey that is being enrolled; `nil` for none, after its expiry, and if the policy no longer permits it.
    func pendingPasskey(in transaction: SignInTransaction) -> PendingPasskey? {
        guard let pending = transaction.classic?.passkey, context.now < pending.challenge.expiresAt,
            policy.enrolling(.webauthn) != .notAllowed, passkeyCount < PasskeySetup.most
        else { return nil }
        return pending
    }

    /// Returns the client's view of the passkey that is being enrolled.
    func passkeyFactor(_ pending: PendingPasskey) -> ClassicFactor? {
        let name = ClassicPolicy.Factor.webauthn.wireName
        var factor = ClassicFactor(id: pending.id, type: name.type, provider: name.provider, profile: [:])
        factor.isSetUp = false
        factor.activation = (try? passkeySetup().options(pending.challenge)).map { ClassicActivation(passkey: $0) }
        return factor
    }

    /// Plans the start of a registration.
    func begin(_ setup: PasskeySetup) throws -> ClassicPlan {
        var next = transaction
        next.classic?.passkey = PendingPasskey(id: try setup.identifier(), challenge: try setup.challenge())
        return try show(next)
    }

    /// Plans the end of a registration. The new passkey counts as proved.
    func setUp(_ pending: PendingPasskey, _ setup: PasskeySetup, _ verdict: Result<VerifiedPasskey, PasskeyFailure>?) throws -> ClassicPlan
    {
        switch verdict {
        case nil: throw ClassicRefusal.wrongPasskey()
        case .failure(let failure): throw ClassicRefusal.wrongPasskey(failure.reason)
        case .success(let passkey):
            let (enrollment, writes) = try setup.enrollment(of: passkey, id: pending.id)
            var step = transaction.step(
                .passkeyEnrolled(enrollment, isUserVerified: passkey.isUserVerified, subject, after: subject(having: .webauthn)),
                now: context.now)
            step.0.classic?.passkey = nil
            return try conclude(step, writes: writes, wrong: .wrongPasskey())
        }
    }
}
