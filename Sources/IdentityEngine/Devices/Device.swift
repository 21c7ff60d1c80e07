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
    /// Since when nobody is enrolled on it; nil while somebody is.
    var unusedSince: Date?
    /// The version of the record that it was read from; 0 before it is stored.
    var version: Int64 = 0

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
    func record() throws -> Record {
        Record(kind: .device, id: id, version: version, expiresAt: expiresAt, payload: try RecordCoding.encode(self))
    }

    /// Reads a record.
    /// - Throws: ``StoreError`` if it is no device.
    init(_ record: Record) throws {
        self = try RecordCoding.decode(Device.self, from: record)
        version = record.version
    }
}
