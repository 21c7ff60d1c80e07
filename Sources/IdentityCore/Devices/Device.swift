package import Foundation
package import JOSE
package import Store

/// One installation of an authenticator app; the payload of a device record.
package struct Device: Sendable, Equatable, Codable {
    package enum Status: String, Sendable, Codable { case active = "ACTIVE", suspended = "SUSPENDED", deleted = "DELETED" }

    /// The device's id: `guo` and 17 characters.
    package var id: String
    /// The id of the app's installation: `cli` and 17 characters. The app uses it with its client instance key.
    package var clientInstanceID: String
    /// The public key that verifies the attestation of a further enrollment.
    package var clientInstanceKey: JSONValue
    /// The app's self-description: names, versions, platform. Shown to the user, but not trusted.
    package var profile: [String: String]
    package var status: Status
    package var createdAt: Date
    package var updatedAt: Date
    /// The time when the device lost its last enrollment; `nil` while it has an enrollment.
    package var unusedSince: Date?
    /// The version of the record from which the device was read; 0 before the device is stored.
    package var version: Int64 = 0

    package init(
        id: String, clientInstanceID: String, clientInstanceKey: JSONValue, profile: [String: String], status: Status, createdAt: Date,
        updatedAt: Date, unusedSince: Date? = nil, version: Int64 = 0
    ) {
        (self.id, self.clientInstanceID, self.clientInstanceKey, self.profile) = (id, clientInstanceID, clientInstanceKey, profile)
        (self.status, self.createdAt, self.updatedAt, self.unusedSince, self.version) = (status, createdAt, updatedAt, unusedSince, version)
    }

    private enum CodingKeys: String, CodingKey {
        case id, clientInstanceID, clientInstanceKey, profile, status, createdAt, updatedAt, unusedSince
    }

    /// Seconds for which a deleted device or a device without enrollments is kept.
    static let retention: TimeInterval = 30 * 86_400

    var expiresAt: Date? { unusedSince?.addingTimeInterval(Self.retention) }
}

extension Device {
    package func record() throws -> Record {
        Record(kind: .device, id: id, version: version, expiresAt: expiresAt, payload: try RecordCoding.encode(self))
    }

    package init(_ record: Record) throws {
        self = try RecordCoding.decode(Device.self, from: record)
        version = record.version
    }
}

/// The scopes of the device endpoints (Documentation/Protocol/Devices.md §1.2).
package enum DeviceScope {
    package static let manage = "okta.myAccount.appAuthenticator.manage"
    static let read = "okta.myAccount.appAuthenticator.read"
    package static let maintenanceManage = "okta.myAccount.appAuthenticator.maintenance.manage"
    static let maintenanceRead = "okta.myAccount.appAuthenticator.maintenance.read"

    /// The scopes that permit reading metadata and pending challenges.
    package static let any: Set<String> = [manage, read, maintenanceManage, maintenanceRead]
    /// The scopes that a device can obtain without the user, by its own signature.
    package static let maintenance: Set<String> = [maintenanceManage, maintenanceRead]
}
