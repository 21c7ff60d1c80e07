internal import Foundation
internal import JOSE

/// One installation of an authenticator app; the payload of a device record.
struct Device: Sendable, Equatable, Codable {
    enum Status: String, Sendable, Codable { case active = "ACTIVE", suspended = "SUSPENDED", deleted = "DELETED" }

    /// `guo` and 17 characters.
    var id: String
    /// `cli` and 17 characters: what the app calls itself with its client instance key.
    var clientInstanceID: String
    /// Signs the attestation that a further enrolment brings.
    var clientInstanceKey: JSONValue
    /// What the app told of itself: names, versions, platform. Shown to the person; never believed.
    var profile: [String: String]
    var status: Status
    var createdAt: Date
    var updatedAt: Date
}
