internal import AuthFoundation
internal import Foundation
internal import JOSE

/// What is stored of an enrollment. Never the push token, an access token or a challenge.
struct EnrollmentRecord: Codable, Sendable, Equatable {
    let id: String
    let organizationID: String
    /// Normalised; see ``OrganizationURL``.
    let organizationURL: URL
    let clientID: String
    let authenticatorID: String
    let userID: String
    var userName: String?
    /// The device as the server knew it when it accepted the enrollment: another enrollment may since have made a new one.
    let deviceID: String
    let clientInstanceID: String
    var methodID: String
    var pendingLink: URL?
    let possessionKeyTag: String
    var verificationKeyTag: String?
    /// The raw value of ``SecAccessControlCreateFlags`` that the key was made with.
    var verificationFlags: UInt?
    /// The raw value of ``TransactionType``.
    var transactionTypes: Int
    /// The code of the last refused change; nil after a change that was accepted.
    var serverErrorCode: String?
    let createdAt: Date
    var updatedAt: Date

    var keyTags: [String] { [possessionKeyTag, verificationKeyTag].compactMap { $0 } }
}

/// What the org calls this installation.
struct DeviceRecord: Codable, Sendable, Equatable {
    let organizationID: String
    let deviceID: String
    let clientInstanceID: String
    let clientInstanceKeyTag: String
}

/// What an authenticator of an org offers and asks for, by org and client.
struct PolicyRecord: Codable, Sendable, Equatable {
    let organizationID: String
    let clientID: String
    let authenticatorID: String
    let userVerification: UserVerificationPolicySetting
    let methods: [String]

    static func id(organizationID: String, clientID: String) -> String { "\(organizationID)|\(clientID)" }
}

/// The keys that an org signs challenges with, by issuer.
struct ChallengeKeyRecord: Codable, Sendable, Equatable {
    struct KeySet: Codable, Sendable, Equatable {
        let fetchedAt: Date
        let keys: [JSONValue]
    }

    let organizationID: String
    var issuers: [String: KeySet] = [:]
}
