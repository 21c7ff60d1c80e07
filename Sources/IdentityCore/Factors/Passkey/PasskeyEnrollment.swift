package import Foundation
internal import JOSE
internal import Store
package import WebAuthn

/// The enrollment of a passkey for a user, based on one read of the store. The caller verifies that the proofs of the sign-in permit the
/// enrollment.
package struct PasskeySetup: Sendable {
    /// The lifetime of a registration's challenge, in seconds.
    package static let lifetime: TimeInterval = 600
    /// The maximum number of passkeys of a user.
    package static let most = 20

    private let user: StoredUser
    private let policy: PasskeyPolicy
    private let relyingParty: RelyingParty
    private let held: [Enrollment]
    private let environment: EngineEnvironment
    private let now: Date

    /// Throws ``Refusal`` if the organization does not offer passkeys, or the user has the maximum number.
    package init(
        _ user: StoredUser, _ enrollments: [Enrollment], _ snapshot: OrgSnapshot, _ environment: EngineEnvironment,
        isOnPages: Bool = false, now: Date
    ) throws(Refusal) {
        guard let policy = snapshot.organization.passkeys else {
            throw Refusal(.accessDenied, "This organization does not offer passkeys.", reason: "passkey: off")
        }
        held = enrollments.filter { $0.passkey != nil && $0.isHeld }
        guard held.count < Self.most else {
            throw Refusal(.accessDenied, "You have too many passkeys. Remove one first.", reason: "passkey: too many")
        }
        (self.user, self.policy, self.environment, self.now) = (user, policy, environment, now)
        relyingParty = policy.relyingPartyAndOrigins(
            origin: snapshot.origin, name: snapshot.organization.name, isOnPages: isOnPages)
    }

    /// Returns a new challenge for a registration.
    package func challenge() throws -> PasskeyChallenge {
        PasskeyChallenge(
            secret: Base64URL.encode(try environment.random.bytes(32)), credentials: nil,
            requiresUserVerification: policy.userVerification == .required, expiresAt: now.addingTimeInterval(Self.lifetime))
    }

    /// Returns the options that the client passes to its authenticator.
    package func options(_ challenge: PasskeyChallenge) throws -> CreationOptions {
        var options = try CreationOptions(
            relyingParty: relyingParty, userHandle: user.value.passkeyHandle, userName: user.value.login,
            userDisplayName: user.value.displayName ?? user.value.login, challenge: Base64URL.decode(challenge.secret))
        options.excluded = held.compactMap(\.passkey?.credential).map(CredentialDescriptor.init)
        // Preferred but not required: a security key without discoverable credentials can still be a second factor.
        options.residentKey = .preferred
        options.userVerification = challenge.requiresUserVerification ? .required : .preferred
        // Clients may hide the authenticator's model if no attestation is requested.
        if policy.models != nil { options.attestation = .direct }
        options.timeout = Int(Self.lifetime) * 1_000
        return options
    }

    /// Returns the check of a response to the challenge. A failure contains the reason for the system log.
    package func check(_ response: RegistrationResponse, to challenge: PasskeyChallenge) -> Check<Result<VerifiedPasskey, PasskeyFailure>> {
        let verifier = RegistrationVerifier(
            relyingParty: relyingParty, userVerification: challenge.requiresUserVerification ? .required : .preferred,
            attestation: AttestationPolicy(unsupportedFormat: .treatAsNone),
            allowedAuthenticators: policy.models.map { Set($0.compactMap(AAGUID.init)) })
        let isRegistered = held.contains { $0.passkey?.credential.id == response.id }
        let now = now
        return Check(of: challenge) {
            guard now < challenge.expiresAt, let bytes = try? Base64URL.decode(challenge.secret) else {
                return .failure(PasskeyFailure(reason: "the challenge has expired"))
            }
            do throws(WebAuthnError) {
                let verified = try await verifier.verify(response, challenge: bytes, isRegistered: isRegistered, now: now)
                return .success(VerifiedPasskey(credential: verified.passkey, isUserVerified: verified.isUserVerified))
            } catch { return .failure(PasskeyFailure(reason: "passkey: \(error)")) }
        }
    }

    /// Returns a new id for the enrollment.
    package func identifier() throws -> String { try environment.random.identifier(prefix: "fwf") }

    /// Returns the new enrollment and its writes. The commit conflicts if another account already has the credential.
    /// - Parameter id: An id from ``identifier()`` that the client has already received; `nil` for a new id.
    package func enrollment(of verified: VerifiedPasskey, id: String? = nil, name: String? = nil) throws -> (Enrollment, Writes) {
        let id = try id ?? identifier()
        let method = PasskeyMethod(
            credential: verified.credential, name: name ?? (verified.credential.isBackupEligible ? "Passkey" : "Security key"))
        let enrollment = Enrollment(id: id, userID: user.value.id, method: .passkey(method), status: .active, createdAt: now)
        return (enrollment, try user.enrolling(enrollment, reason: "passkey"))
    }
}

extension StoreView {
    /// Whether a user of the organization has the credential. The caller then refuses the enrollment, because its commit would conflict at
    /// each attempt.
    package func hasPasskey(_ credentialID: [UInt8]) throws -> Bool {
        try !records(.enrollment, where: "passkey", is: Base64URL.encode(credentialID), limit: 1).isEmpty
    }
}

/// A registered passkey that is not stored yet.
package struct VerifiedPasskey: Sendable {
    package var credential: StoredPasskey
    /// Whether the authenticator verified the user during the registration.
    package var isUserVerified: Bool
}

/// The reason why a registration was refused.
package struct PasskeyFailure: Error {
    package var reason: String
}
