internal import JOSE

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A registered passkey, as the server stores it (WebAuthn Level 3 §4, Credential Record). It contains no secrets.
package struct StoredPasskey: Sendable, Hashable {
    /// The credential id, unique among all users: 1 to 1023 bytes.
    package let id: [UInt8]
    /// The RP ID for which the passkey is valid.
    package let relyingPartyID: String
    /// The public key as a COSE key.
    package let publicKey: [UInt8]
    /// The authenticator's model. Only a trusted attestation proves it.
    package let aaguid: AAGUID
    /// The transports by which clients may reach the authenticator.
    package let transports: [String]
    /// Whether the passkey can be found without its id; `nil` if the client did not state it.
    package let isDiscoverable: Bool?
    /// Whether the passkey can be backed up. It never changes.
    package let isBackupEligible: Bool
    /// The time of the registration.
    package let createdAt: Date

    /// Whether the passkey was backed up at its last use.
    package var isBackedUp: Bool
    /// The greatest sign count so far; 0 if the authenticator does not count.
    package var signCount: UInt32
    /// Whether the server has accepted that the authenticator verifies the user. Until then, the flag UV proves no second factor. The
    /// registration sets it to the flag UV. Later, the caller may set it after the user has also used another equivalent factor.
    package var isUserVerificationInitialized: Bool

    /// Creates a passkey. Registration verification creates passkeys; use this initializer for tests and imports.
    package init(
        id: [UInt8], relyingPartyID: String, publicKey: [UInt8], aaguid: AAGUID, transports: [String], isDiscoverable: Bool?,
        isBackupEligible: Bool, isBackedUp: Bool, signCount: UInt32, isUserVerificationInitialized: Bool, createdAt: Date
    ) {
        self.id = id
        self.relyingPartyID = relyingPartyID
        self.publicKey = publicKey
        self.aaguid = aaguid
        self.transports = transports
        self.isDiscoverable = isDiscoverable
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
        self.signCount = signCount
        self.isUserVerificationInitialized = isUserVerificationInitialized
        self.createdAt = createdAt
    }
}

/// Bytes are coded as base64url.
extension StoredPasskey: Codable {
    private enum CodingKeys: String, CodingKey {
        case id
        case relyingPartyID = "rpId"
        case publicKey
        case aaguid
        case transports
        case isDiscoverable = "discoverable"
        case isBackupEligible = "backupEligible"
        case createdAt
        case isBackedUp = "backupState"
        case signCount
        case isUserVerificationInitialized = "uvInitialized"
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func bytes(_ key: CodingKeys) throws -> [UInt8] {
            guard let bytes = try? Base64URL.decode(container.decode(String.self, forKey: key)) else {
                throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "Not base64url.")
            }
            return bytes
        }
        self.init(
            id: try bytes(.id), relyingPartyID: try container.decode(String.self, forKey: .relyingPartyID),
            publicKey: try bytes(.publicKey), aaguid: try container.decode(AAGUID.self, forKey: .aaguid),
            transports: try container.decode([String].self, forKey: .transports),
            isDiscoverable: try container.decodeIfPresent(Bool.self, forKey: .isDiscoverable),
            isBackupEligible: try container.decode(Bool.self, forKey: .isBackupEligible),
            isBackedUp: try container.decode(Bool.self, forKey: .isBackedUp),
            signCount: try container.decode(UInt32.self, forKey: .signCount),
            isUserVerificationInitialized: try container.decode(Bool.self, forKey: .isUserVerificationInitialized),
            createdAt: try container.decode(Date.self, forKey: .createdAt))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Base64URL.encode(id), forKey: .id)
        try container.encode(relyingPartyID, forKey: .relyingPartyID)
        try container.encode(Base64URL.encode(publicKey), forKey: .publicKey)
        try container.encode(aaguid, forKey: .aaguid)
        try container.encode(transports, forKey: .transports)
        try container.encodeIfPresent(isDiscoverable, forKey: .isDiscoverable)
        try container.encode(isBackupEligible, forKey: .isBackupEligible)
        try container.encode(isBackedUp, forKey: .isBackedUp)
        try container.encode(signCount, forKey: .signCount)
        try container.encode(isUserVerificationInitialized, forKey: .isUserVerificationInitialized)
        try container.encode(createdAt, forKey: .createdAt)
    }
}
