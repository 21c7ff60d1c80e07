internal import Crypto
package import Foundation
package import JOSE
internal import Store
package import WebAuthn

/// Verifies signatures of passkeys (WebAuthn Level 3 section 7.2). A verifier is created from one read of the store and is not reused, like
/// ``TOTPVerifier``.
package struct PasskeyVerifier: FactorVerifier {
    private let policy: PasskeyPolicy?
    private let origin: String
    private let challenge: PasskeyChallenge?
    private let enrollments: [Enrollment]
    private let now: Date
    private let isOnPages: Bool

    /// - Parameters:
    ///   - isOnPages: Whether a hosted page requests the signature. If not, the client can be an app, which has the relying party's origin.
    ///   - challenge: The challenge of the sign-in; `nil` rejects every signature.
    ///   - enrollments: The user's usable enrollments; those of other factors are ignored.
    package init(snapshot: OrgSnapshot, challenge: PasskeyChallenge?, enrollments: [Enrollment], isOnPages: Bool = false, now: Date) {
        self.isOnPages = isOnPages
        (policy, origin) = (snapshot.organization.passkeys, snapshot.origin)
        (self.challenge, self.enrollments, self.now) = (challenge, enrollments, now)
    }

    package var kind: FactorKind { .passkey }
    package var factorClass: FactorClass { .possession }
    package var methods: [String] { ["pop"] }
    package var inputs: String { "\(challenge?.secret ?? "") \(origin) \(String(describing: policy))" }

    package func verify(_ response: FactorResponse, of user: User?, policy _: PasswordPolicy) -> FactorVerdict {
        guard case .assertion(let assertion) = response, let user else { return .failed }
        guard let policy else { return .rejected("the organization does not offer passkeys") }
        guard let challenge, let bytes = try? Base64URL.decode(challenge.secret) else { return .rejected("no challenge is open") }
        guard now < challenge.expiresAt else { return .rejected("the challenge has expired") }
        let verifier = AuthenticationVerifier(
            relyingParty: policy.relyingPartyAndOrigins(origin: origin, isOnPages: isOnPages),
            userVerification: challenge.requiresUserVerification ? .required : .preferred,
            signCount: policy.counter == .refuse ? .refuse : .signal)
        var reason: WebAuthnError?
        for enrollment in enrollments where enrollment.userID == user.id && challenge.credentials?.contains(enrollment.id) != false {
            guard let passkey = enrollment.passkey, assertion.credentialID.map({ $0 == passkey.credential.id }) ?? true else { continue }
            do throws(WebAuthnError) {
                let verified = try verifier.meteredVerify(
                    AuthenticationResponse(id: passkey.credential.id, assertion), challenge: bytes, passkey: passkey.credential,
                    account: challenge.credentials == nil
                        ? .discovered(userHandle: user.passkeyHandle) : .identified(userHandle: user.passkeyHandle))
                return .proved(passwordHash: nil, enrollment: enrollment.used(verified))
            } catch {
                // Only one of several passkeys made the signature. The others fail with `.signature`, so any other error is the reason.
                if reason == nil || error != .signature { reason = error }
            }
        }
        if reason == nil {
            // An attacker can know a user's handle, but must not know the handle of unknown users: a response with that handle would cause
            // other work for an unknown name than for a user.
            let handle = challenge.standIns?.decoy == nil ? user.passkeyHandle : StoredPasskey.unknownHandle
            for _ in 0..<(challenge.standIns?.credentials ?? 0) {
                let passkey = StoredPasskey(standInFor: verifier.relyingParty.id)
                // The result does not matter: a stand-in proves nothing.
                _ = try? verifier.meteredVerify(
                    AuthenticationResponse(id: passkey.id, assertion), challenge: bytes, passkey: passkey,
                    account: .identified(userHandle: handle))
            }
        }
        return .rejected(reason.map { "passkey: \($0)" } ?? "the user has no such passkey")
    }
}

extension AuthenticationVerifier {
    /// Verifies a response, and meters the check of the signature if the earlier checks allow it.
    fileprivate func meteredVerify(
        _ response: AuthenticationResponse, challenge: [UInt8], passkey: StoredPasskey, account: Account
    ) throws(WebAuthnError) -> VerifiedAuthentication {
        do throws(WebAuthnError) {
            let verified = try verify(response, challenge: challenge, requested: [], passkey: passkey, account: account)
            OperationMeter.note(.signature)
            return verified
        } catch {
            if error == .signature { OperationMeter.note(.signature) }
            throw error
        }
    }
}

extension StoredPasskey {
    private static let standInKey: [UInt8] = {
        let coordinates = P256.Signing.PrivateKey().publicKey.rawRepresentation
        // A COSE key (RFC 9052 section 7): kty 2, alg -7, crv 1, x, y.
        return [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + coordinates.prefix(32) + [0x22, 0x58, 0x20]
            + coordinates.suffix(32)
    }()

    /// The handle of all unknown users. It is random, as the end of a random key that no client sees.
    fileprivate static let unknownHandle = Array(standInKey.suffix(32))

    /// Creates a passkey whose private key does not exist.
    fileprivate init(standInFor relyingPartyID: String) {
        self.init(
            id: [0], relyingPartyID: relyingPartyID, publicKey: Self.standInKey, aaguid: .zero, transports: [], isDiscoverable: nil,
            isBackupEligible: true, isBackedUp: true, signCount: 0, isUserVerificationInitialized: true, createdAt: .distantPast)
    }
}

extension AuthenticationResponse {
    fileprivate init(id: [UInt8], _ assertion: PasskeyAssertion) {
        self.init(
            id: id, clientDataJSON: assertion.clientData, authenticatorData: assertion.authenticatorData, signature: assertion.signature,
            userHandle: assertion.userHandle)
    }
}

extension Enrollment {
    fileprivate func used(_ verified: VerifiedAuthentication) -> Enrollment {
        var next = self
        next.passkey?.credential = verified.passkey
        next.passkeyUse = PasskeyUse(
            userVerified: verified.isUserVerified, isHardwareProtected: !verified.passkey.isBackupEligible,
            hasCounterIncreased: verified.hasSignCountIncreased)
        return next
    }
}

extension User {
    /// The WebAuthn user handle: the random id of the user, which contains no personal data.
    package var passkeyHandle: [UInt8] { Array(id.utf8) }
}

extension PasskeyPolicy {
    /// Whether a passkey must verify the user in a sign-in. The policy can require this, and a passkey that replaces the password and a
    /// second factor must do so.
    package func mustVerifyUser(_ subject: SignInTransaction.Subject, in transaction: SignInTransaction) -> Bool {
        let needsTwo = subject.decision.assurance.needsTwoFactors || subject.demandsTwoFactors
        return userVerification == .required || (needsTwo && !transaction.factorClasses.contains(.knowledge))
    }

    /// Returns the relying party with all accepted origins.
    func relyingPartyAndOrigins(origin: String, name: String = "", isOnPages: Bool) -> RelyingParty {
        let id = rpID(origin: origin)
        // An app on Apple's systems signs with the origin of its associated domain. The server's pages sign only with the organization's
        // origin.
        return RelyingParty(id: id, name: name, origins: [origin] + (isOnPages ? [] : ["https://" + id]) + origins)
    }
}

extension Engine {
    /// Registers a passkey for a user without a sign-in; for tests and the sandbox.
    /// - Parameter create: Returns the authenticator's response to the options, for a client with this origin.
    /// - Returns: The passkey; `nil` if the user does not exist, or the organization does not offer passkeys.
    /// - Throws: ``PasskeyFailure`` for a response that does not verify; the errors of `create` and of the store.
    package func grantPasskey(
        toUser userID: String, name: String, context: RequestContext, create: (CreationOptions, _ origin: String) throws -> JSONValue
    ) async throws -> PasskeyMethod? {
        let found = try await store.read { [self] view -> (setup: PasskeySetup, origin: String)? in
            let snapshot = try snapshot(view)
            guard let policy = snapshot.organization.passkeys, let user = try user(id: userID, in: view) else { return nil }
            let setup = try PasskeySetup(user, view.enrollments(of: userID), snapshot, environment, now: context.now)
            return (setup, "https://" + policy.rpID(origin: snapshot.origin))
        }
        guard let found else { return nil }
        let challenge = try found.setup.challenge()
        let response = try RegistrationResponse(create(found.setup.options(challenge), found.origin))
        let verified = try await found.setup.check(response, to: challenge).judge().get()
        let (enrollment, _) = try found.setup.enrollment(of: verified, name: name)
        let granted = try await grantFactor(userID: userID, context: context) { user, _ in
            try user.enrolling(enrollment, reason: "passkey")
        }
        return granted == nil ? nil : enrollment.passkey
    }
}
