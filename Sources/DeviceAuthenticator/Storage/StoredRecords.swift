internal import AuthFoundation
internal import Foundation
internal import JOSE

/// The stored data of an enrollment. It never contains the push token, access tokens or challenges.
struct EnrollmentRecord: Codable, Sendable, Equatable {
    let id: String
    let organizationID: String
    /// Normalized; see ``OrganizationURL``.
    let organizationURL: URL
    let clientID: String
    let authenticatorID: String
    let userID: String
    var userName: String?
    /// The device's id when the enrollment was accepted. A later enrollment may have created a new device.
    let deviceID: String
    let clientInstanceID: String
    var methodID: String
    var pendingLink: URL?
    let possessionKeyTag: String
    var verificationKeyTag: String?
    /// The raw value of the ``SecAccessControlCreateFlags`` of the key.
    var verificationFlags: UInt?
    var transactionTypes: Int
    /// The error code of the last change if it was rejected; `nil` after an accepted change.
    var serverErrorCode: String?
    let createdAt: Date
    var updatedAt: Date

    var keyTags: [String] { [possessionKeyTag, verificationKeyTag].compactMap { $0 } }
}

/// The org's ids for this installation.
struct DeviceRecord: Codable, Sendable, Equatable {
    let organizationID: String
    let deviceID: String
    let clientInstanceID: String
    let clientInstanceKeyTag: String
}

/// The policy of an authenticator, by org and client.
struct PolicyRecord: Codable, Sendable, Equatable {
    let organizationID: String
    let clientID: String
    let authenticatorID: String
    let userVerification: UserVerificationPolicySetting
    let methods: [String]

    static func id(organizationID: String, clientID: String) -> String { "\(organizationID)|\(clientID)" }
}

/// The keys with which an org signs challenges, by issuer.
struct ChallengeKeyRecord: Codable, Sendable, Equatable {
    struct KeySet: Codable, Sendable, Equatable {
        let fetchedAt: Date
        let keys: [JSONValue]
    }

    let organizationID: String
    var issuers: [String: KeySet] = [:]
}
