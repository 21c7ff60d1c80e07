package import Foundation
package import JOSE
package import Store

/// One installation of an authenticator app; the payload of a device record.
package struct Device: Sendable, Equatable, Codable {
    package enum Status: String, Sendable, Codable { case active = "ACTIVE", suspended = "SUSPENDED", deleted = "DELETED" }

    /// `guo` and 17 characters.
    package var id: String
    /// `cli` and 17 characters: what the app calls itself with its client instance key.
    package var clientInstanceID: String
    /// Signs the attestation that a further enrolment brings.
    package var clientInstanceKey: JSONValue
    /// What the app told of itself: names, versions, platform. Shown to the person; never believed.
    package var profile: [String: String]
    package var status: Status
    package var createdAt: Date
    package var updatedAt: Date
    /// The time since which it has no enrolment; `nil` while it has one.
    package var unusedSince: Date?
    /// The version of the record that it was read from; 0 before it is stored.
    package var version: Int64 = 0

    package init(
        id: String, clientInstanceID: String, clientInstanceKey: JSONValue, profile: [String: String], status: Status, createdAt: Date,
        updatedAt: Date, unusedSince: Date? = nil, version: Int64 = 0
    ) {
        self.id = id
        self.clientInstanceID = clientInstanceID
        self.clientInstanceKey = clientInstanceKey
        self.profile = profile
        self.status = status
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.unusedSince = unusedSince
        self.version = version
    }

    private enum CodingKeys: String, CodingKey {
        case id, clientInstanceID, clientInstanceKey, profile, status, createdAt, updatedAt, unusedSince
    }

    /// Seconds that a device without enrolments, or one that was deleted, is remembered.
    static let retention: TimeInterval = 30 * 86_400

    /// When it can be forgotten.
    var expiresAt: Date? { unusedSince?.addingTimeInterval(Self.retention) }
}

extension Device {
    /// The record to store.
    package func record() throws -> Record {
        Record(kind: .device, id: id, version: version, expiresAt: expiresAt, payload: try RecordCoding.encode(self))
    }

    /// Reads a record.
    /// - Throws: ``StoreError`` if it is no device.
    package init(_ record: Record) throws {
        self = try RecordCoding.decode(Device.self, from: record)
        version = record.version
    }
}

/// The scopes of the device endpoints (device-authenticator reference 1.2).
package enum DeviceScope {
    package static let manage = "okta.myAccount.appAuthenticator.manage"
    static let read = "okta.myAccount.appAuthenticator.read"
    package static let maintenanceManage = "okta.myAccount.appAuthenticator.maintenance.manage"
    static let maintenanceRead = "okta.myAccount.appAuthenticator.maintenance.read"

    /// What reads: metadata and what waits for an answer.
    package static let any: Set<String> = [manage, read, maintenanceManage, maintenanceRead]
    /// What a device may be granted silently, by its own signature.
    package static let maintenance: Set<String> = [maintenanceManage, maintenanceRead]
}
