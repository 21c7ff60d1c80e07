/// The check that rejected a WebAuthn response or option. The cases name the check precisely, for tests and the system log. They contain no
/// secrets and no text from the response, except a sign count. Responses to the client should not distinguish the cases.
package enum WebAuthnError: Error, Sendable, Hashable {
    // MARK: Form of the response

    /// The response is not a JSON object, or is too large or nested too deep.
    case responseNotJSON
    /// A member of the response is absent, has the wrong type or encoding, or is too long.
    case responseMember(ResponseMember)
    /// `id` and `rawId` differ.
    case idsDiffer
    /// `type` is not `public-key`.
    case wrongCredentialType

    // MARK: Client data

    /// The client data is not a JSON object in UTF-8, or has a member twice.
    case clientDataNotJSON
    /// A member of the client data is absent or has the wrong type.
    case clientDataMember(ClientDataMember)
    /// The client data belongs to the other ceremony.
    case wrongClientDataType
    /// The challenge is not the expected one.
    case wrongChallenge
    /// The origin is not allowed.
    case originNotAllowed
    /// The ceremony took place in a frame of another origin.
    case crossOriginNotAllowed
    /// The origin of the top-level page is not allowed.
    case topOriginNotAllowed

    // MARK: Authenticator data

    /// The attestation object is not CBOR.
    case attestationObjectNotCBOR(CBORError)
    /// The attestation object has no `fmt`, `attStmt` or `authData` of the right type.
    case attestationObjectMember(AttestationObjectMember)
    /// The authenticator data ends too early.
    case authenticatorDataTruncated
    /// Bytes follow the authenticator data.
    case authenticatorDataTrailingBytes
    /// The extension outputs are not a CBOR map with text keys.
    case extensionsInvalid
    /// The RP ID is not the expected one.
    case wrongRelyingPartyID
    /// The user was not present (flag UP).
    case userNotPresent
    /// The authenticator did not verify the user (flag UV), although this is required.
    case userNotVerified
    /// The flag BS is set without BE.
    case backupStateWithoutEligibility
    /// The passkey can be backed up, which the policy does not allow.
    case backupEligible
    /// The passkey cannot be backed up, which the policy requires.
    case backupIneligible

    // MARK: Registration

    /// The authenticator data contains no credential (flag AT).
    case credentialMissing
    /// The credential id is empty.
    case credentialIDEmpty
    /// The credential id has more than 1023 bytes.
    case credentialIDTooLong
    /// The credential id of the response is not the one in the authenticator data.
    case credentialIDsDiffer
    /// The credential id is registered already.
    case credentialRegistered
    /// The public key is not usable.
    case publicKey(COSEKeyError)
    /// The key's algorithm was not offered.
    case algorithmNotOffered
    /// The AAGUID is not on the list of allowed authenticators.
    case authenticatorNotAllowed

    // MARK: Attestation

    /// The attestation format is not supported.
    case attestationFormatUnsupported
    /// The attestation statement has a member too many, too few or of the wrong type.
    case attestationStatementInvalid
    /// The algorithm of the attestation statement is not supported, or is not the one of the key.
    case attestationAlgorithm
    /// The attestation signature is not valid.
    case attestationSignature
    /// An attestation certificate violates a rule.
    case attestationCertificate(CertificateRule)
    /// The nonce in Apple's certificate does not match the response.
    case attestationNonce
    /// The key in Apple's certificate is not the credential's public key.
    case attestationKey
    /// The policy requires a trusted attestation, and the response has none.
    case attestationNotTrusted

    // MARK: Authentication

    /// The credential id is not on the list of the request.
    case credentialNotRequested
    /// The credential id is not the one of the stored passkey.
    case otherPasskey
    /// The stored passkey belongs to another RP ID.
    case passkeyOfOtherRelyingParty
    /// The response does not name the user, although the request did not identify one.
    case userHandleMissing
    /// The user handle is not the one of the passkey's owner.
    case wrongUserHandle
    /// The flag BE differs from the registration.
    case backupEligibilityChanged
    /// The signature is not valid.
    case signature
    /// The sign count is not greater than the stored one. The passkey may have been cloned.
    case signCountNotIncreased(stored: UInt32, received: UInt32)

    // MARK: Options

    /// A challenge has fewer than 16 bytes.
    case challengeTooShort
    /// A user handle is empty or has more than 64 bytes.
    case userHandleLength
}

extension WebAuthnError {
    /// A member of a registration or authentication response.
    package enum ResponseMember: String, Sendable {
        case id
        case rawID = "rawId"
        case type
        case response
        case clientDataJSON
        case attestationObject
        case transports
        case authenticatorData
        case signature
        case userHandle
        case authenticatorAttachment
        case clientExtensionResults
    }

    /// A member of the client data that the checks read.
    package enum ClientDataMember: String, Sendable {
        case type
        case challenge
        case origin
        case crossOrigin
        case topOrigin
    }

    /// A member of the attestation object.
    package enum AttestationObjectMember: String, Sendable {
        case format = "fmt"
        case statement = "attStmt"
        case authenticatorData = "authData"
    }

    /// A rule for attestation certificates (WebAuthn Level 3 §8.2.1).
    package enum CertificateRule: String, Sendable {
        /// There are too many certificates, or one is not a DER certificate.
        case form
        /// The version is 3.
        case version
        /// The subject has country, organization, unit and common name.
        case subject
        /// The certificate belongs to no certificate authority.
        case authority
        /// The AAGUID of the certificate is the one of the authenticator data; its extension is not critical.
        case aaguid
        /// The key is supported.
        case key
    }
}
