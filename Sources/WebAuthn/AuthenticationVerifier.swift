internal import Crypto

/// Verifies the responses to request options (WebAuthn Level 3 §7.2). The comments name the steps of that section.
///
/// The caller stores the challenge and finds the passkey by the response's id. The challenge must be unexpired. The caller consumes it,
/// also if the verification fails.
package struct AuthenticationVerifier: Sendable {
    /// The handling of a sign count that does not increase.
    package enum SignCount: Sendable, Hashable {
        /// The authentication is rejected.
        case refuse
        /// The authentication is accepted, and the result says so.
        case signal
    }

    /// The owner of the passkey, and the way in which the server found the owner.
    package enum Account: Sendable, Hashable {
        /// The server knew the user before the ceremony. The response may omit the user handle.
        case identified(userHandle: [UInt8])
        /// The user chose a passkey, and the server found its owner. The response must contain the user handle.
        case discovered(userHandle: [UInt8])

        fileprivate var userHandle: [UInt8] {
            switch self {
            case .identified(let userHandle), .discovered(let userHandle): userHandle
            }
        }
    }

    /// The relying party.
    package var relyingParty: RelyingParty
    /// The user verification that the options asked for.
    package var userVerification: UserVerification
    /// The handling of a sign count that does not increase.
    package var signCount: SignCount

    /// Creates a verifier. The defaults require user verification and reject sign counts that do not increase.
    package init(relyingParty: RelyingParty, userVerification: UserVerification = .required, signCount: SignCount = .refuse) {
        self.relyingParty = relyingParty
        self.userVerification = userVerification
        self.signCount = signCount
    }

    /// Verifies a response.
    /// - Parameters:
    ///   - challenge: The challenge that the server issued for this ceremony.
    ///   - requested: The ids of the options' `allowCredentials`. If empty, the user could choose any passkey.
    ///   - passkey: The stored passkey with the response's id.
    ///   - account: The handle of the user who owns the passkey.
    /// - Throws: The first check that failed.
    package func verify(
        _ response: AuthenticationResponse, challenge: [UInt8], requested: [[UInt8]], passkey: StoredPasskey, account: Account
    ) throws(WebAuthnError) -> VerifiedAuthentication {
        // Steps 1 to 4 and 7 take place in the client and in AuthenticationResponse.
        // Step 5.
        guard requested.isEmpty || requested.contains(response.id) else { throw .credentialNotRequested }
        // Step 6.
        guard response.id == passkey.id else { throw .otherPasskey }
        guard passkey.relyingPartyID.utf8.elementsEqual(relyingParty.id.utf8) else { throw .passkeyOfOtherRelyingParty }
        if let userHandle = response.userHandle {
            guard userHandle == account.userHandle else { throw .wrongUserHandle }
        } else if case .discovered = account {
            throw .userHandleMissing
        }
        // Steps 8 to 14 and 20.
        let clientData = try ClientData(response.clientDataJSON)
        try clientData.check(.get, challenge: challenge, relyingParty: relyingParty)
        let data = try AuthenticatorData(response.authenticatorData)
        // Step 15.
        try data.check(relyingPartyID: relyingParty.id)
        // Step 16.
        guard data.flags.contains(.userPresent) else { throw .userNotPresent }
        // Step 17.
        guard userVerification != .required || data.flags.contains(.userVerified) else { throw .userNotVerified }
        // Step 18.
        try data.checkBackupFlags()
        // Step 21. It precedes step 19, so that the time of a wrong response does not depend on the stored passkey.
        let publicKey: COSEPublicKey
        do throws(COSEKeyError) { publicKey = try COSEPublicKey(passkey.publicKey) } catch { throw .publicKey(error) }
        guard publicKey.isValidSignature(response.signature, for: data.bytes + clientData.hash) else { throw .signature }
        // Step 19.
        guard data.flags.contains(.backupEligible) == passkey.isBackupEligible else { throw .backupEligibilityChanged }
        // Step 22.
        let counts = data.signCount != 0 || passkey.signCount != 0
        let hasIncreased = !counts || data.signCount > passkey.signCount
        guard hasIncreased || signCount == .signal else {
            throw .signCountNotIncreased(stored: passkey.signCount, received: data.signCount)
        }
        // Step 23: extension outputs are ignored. Step 24.
        var updated = passkey
        updated.isBackedUp = data.flags.contains(.backupState)
        // The greater count stays stored, so that each later use of a clone is a signal too.
        updated.signCount = max(passkey.signCount, data.signCount)
        return VerifiedAuthentication(
            passkey: updated, isUserVerified: data.flags.contains(.userVerified), hasSignCountIncreased: hasIncreased)
    }
}

/// The result of an authentication.
package struct VerifiedAuthentication: Sendable {
    /// The passkey to store: its backup state and sign count are updated.
    package let passkey: StoredPasskey
    /// Whether the authenticator verified the user. It is a second factor only if ``StoredPasskey/isUserVerificationInitialized`` is set.
    package let isUserVerified: Bool
    /// Whether the sign count increased or the authenticator does not count. False is a sign that the passkey was cloned.
    package let hasSignCountIncreased: Bool
}

extension AuthenticatorData {
    func check(relyingPartyID: String) throws(WebAuthnError) {
        guard relyingPartyIDHash == Array(SHA256.hash(data: Array(relyingPartyID.utf8))) else { throw .wrongRelyingPartyID }
    }

    func checkBackupFlags() throws(WebAuthnError) {
        guard flags.contains(.backupEligible) || !flags.contains(.backupState) else { throw .backupStateWithoutEligibility }
    }
}
