#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Verifies the responses to creation options (WebAuthn Level 3 §7.1). The comments name the steps of that section.
///
/// The caller stores the challenge, finds out whether the credential id is registered, and stores the passkey. The challenge must be
/// unexpired. The caller consumes it, also if the verification fails.
package struct RegistrationVerifier: Sendable {
    /// The allowed kinds of passkeys.
    package enum Backup: Sendable, Hashable {
        /// All.
        case any
        /// Only passkeys that cannot leave their authenticator.
        case ineligible
        /// Only passkeys that can be backed up, so that the user does not lose them with the device.
        case eligible
    }

    /// The relying party.
    package var relyingParty: RelyingParty
    /// The algorithms that the options offered.
    package var algorithms: [COSEAlgorithm]
    /// The user verification that the options asked for.
    package var userVerification: UserVerification
    /// Whether the client may create the passkey without the user's action (`mediation: "conditional"`). Then the flag UP can be missing.
    package var isConditional: Bool
    /// The allowed kinds of passkeys.
    package var backup: Backup
    /// The requirements on the attestation.
    package var attestation: AttestationPolicy
    /// The allowed authenticators; `nil` for all. The list keeps out only honest authenticators unless ``attestation`` requires trust.
    package var allowedAuthenticators: Set<AAGUID>?

    /// Creates a verifier. The defaults require user verification and accept passkeys of all kinds, without attestation.
    package init(
        relyingParty: RelyingParty, algorithms: [COSEAlgorithm] = COSEAlgorithm.recommended, userVerification: UserVerification = .required,
        isConditional: Bool = false, backup: Backup = .any, attestation: AttestationPolicy = AttestationPolicy(),
        allowedAuthenticators: Set<AAGUID>? = nil
    ) {
        self.relyingParty = relyingParty
        self.algorithms = algorithms
        self.userVerification = userVerification
        self.isConditional = isConditional
        self.backup = backup
        self.attestation = attestation
        self.allowedAuthenticators = allowedAuthenticators
    }

    /// Verifies a response.
    /// Suspends only to verify a certificate chain, without I/O.
    /// - Parameters:
    ///   - challenge: The challenge that the server issued for this ceremony.
    ///   - isRegistered: Whether the response's credential id is registered for any user.
    ///   - now: The time of the registration, and of the certificates' validity.
    /// - Throws: The first check that failed.
    package func verify(
        _ response: RegistrationResponse, challenge: [UInt8], isRegistered: Bool, now: Date
    ) async throws(WebAuthnError) -> VerifiedRegistration {
        // Steps 1 to 4 take place in the client and in RegistrationResponse.
        // Steps 5 to 12.
        let clientData = try ClientData(response.clientDataJSON)
        try clientData.check(.create, challenge: challenge, relyingParty: relyingParty)
        // Step 13.
        let object = try AttestationObject(response.attestationObject)
        let data = object.authenticatorData
        // Step 14.
        try data.check(relyingPartyID: relyingParty.id)
        // Step 15.
        guard isConditional || data.flags.contains(.userPresent) else { throw .userNotPresent }
        // Step 16.
        guard userVerification != .required || data.flags.contains(.userVerified) else { throw .userNotVerified }
        // Step 17.
        try data.checkBackupFlags()
        // Steps 18 and 19.
        let isEligible = data.flags.contains(.backupEligible)
        guard backup != .ineligible || !isEligible else { throw .backupEligible }
        guard backup != .eligible || isEligible else { throw .backupIneligible }
        guard let credential = data.credential else { throw .credentialMissing }
        // Step 20.
        let publicKey: COSEPublicKey
        do throws(COSEKeyError) { publicKey = try COSEPublicKey(credential.publicKey) } catch { throw .publicKey(error) }
        guard algorithms.contains(publicKey.algorithm) else { throw .algorithmNotOffered }
        if let allowedAuthenticators {
            guard allowedAuthenticators.contains(credential.aaguid) else { throw .authenticatorNotAllowed }
        }
        // Steps 21 and 22.
        let statement = AttestationStatement(
            object: object, credential: credential, publicKey: publicKey, signedBytes: data.bytes + clientData.hash)
        let verified = try statement.verify(unsupportedFormat: attestation.unsupportedFormat)
        // Steps 23 and 24.
        let trust: AttestationTrust
        switch verified {
        case .none: trust = .none
        case .selfAttested: trust = .selfAttested
        case .certified(let chain): trust = await attestation.roots.trust(in: chain, now: now)
        }
        if attestation.requirement == .trusted {
            guard case .trusted = trust else { throw .attestationNotTrusted }
        }
        // Step 25.
        guard !credential.id.isEmpty else { throw .credentialIDEmpty }
        guard credential.id.count <= 1023 else { throw .credentialIDTooLong }
        // The caller has looked up the id of the response.
        guard credential.id == response.id else { throw .credentialIDsDiffer }
        // Step 26.
        guard !isRegistered else { throw .credentialRegistered }
        // Step 27. Step 28: unsolicited extension outputs are ignored.
        return VerifiedRegistration(
            passkey: StoredPasskey(
                id: credential.id, relyingPartyID: relyingParty.id, publicKey: credential.publicKey, aaguid: credential.aaguid,
                transports: response.transports, isDiscoverable: response.isDiscoverable, isBackupEligible: isEligible,
                isBackedUp: data.flags.contains(.backupState), signCount: data.signCount,
                isUserVerificationInitialized: data.flags.contains(.userVerified), createdAt: now),
            isUserVerified: data.flags.contains(.userVerified), attestationFormat: object.format, attestation: trust)
    }
}

/// The result of a registration.
package struct VerifiedRegistration: Sendable {
    /// The passkey to store. The store must enforce that its id is unique among all users.
    package let passkey: StoredPasskey
    /// Whether the authenticator verified the user.
    package let isUserVerified: Bool
    /// The identifier of the attestation statement's format, of at most 32 bytes. Formats other than `none`, `packed` and `apple` were not
    /// verified, so that the client chose the text.
    package let attestationFormat: String
    /// The trust in the attestation.
    package let attestation: AttestationTrust
}
