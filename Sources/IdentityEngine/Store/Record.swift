public import Foundation

/// The kinds of records.
public enum RecordKind: String, Sendable, CaseIterable, Codable {
    /// The organization itself.
    case organization
    /// Where tokens for APIs come from.
    case authorizationServer
    /// An application.
    case application
    /// A group of people.
    case group
    /// What an application asks of people.
    case signOnPolicy
    /// What passwords must be.
    case passwordPolicy
    /// A key that signs tokens.
    case signingKey
    /// An app that confirms sign-ins.
    case authenticator
    /// A person.
    case user
    /// A factor of a person.
    case enrollment
    /// A device that people enrolled.
    case device
    /// A sign-in of a browser.
    case session
    /// What a person allowed an application.
    case consent
    /// A sign-in under way.
    case transaction
    /// One issuance of tokens.
    case grant
    /// A line of the system log.
    case logEvent
    /// An assertion that was used.
    case assertionID
    /// A device that need not prove the second factor.
    case rememberedDevice
    /// How far the seed of a device with a counter has come that was taken away.
    case hardwareCounter
    /// The record that a failed sign-in writes for an unknown user name. It has no meaning.
    case decoy
    /// A known text sealed with the master key, which detects another master key.
    case masterKeyCheck

    /// Whether records of this kind are configuration: few, hot, and read through a cache.
    public var isConfiguration: Bool {
        switch self {
        case .organization, .authorizationServer, .application, .group, .signOnPolicy, .passwordPolicy, .signingKey, .authenticator: true
        case .user, .enrollment, .device, .session, .consent, .transaction, .grant, .logEvent, .assertionID, .rememberedDevice,
            .hardwareCounter, .decoy, .masterKeyCheck:
            false
        }
    }
}

/// Names one record.
public struct RecordReference: Sendable, Hashable, Codable {
    /// The record's kind.
    public var kind: RecordKind
    /// The record's id within its kind.
    public var id: String

    /// Names a record.
    public init(_ kind: RecordKind, _ id: String) {
        self.kind = kind
        self.id = id
    }
}

/// A durable, versioned piece of state. The store knows its identity, its version and its declared keys; the payload is the engine's.
public struct Record: Sendable, Equatable {
    /// The record's kind.
    public var kind: RecordKind
    /// Unique within the kind, at most 200 bytes.
    public var id: String
    /// The version that was read; 0 for a record that is not stored yet.
    public var version: Int64
    /// Keys that at most one record of the kind may have, by name: `["login": "jane@example.com"]`.
    public var uniqueKeys: [String: String]
    /// Keys that many records may share, by name: `["user": "00u…"]`.
    public var indexedKeys: [String: String]
    /// When the record may be removed; nil keeps it.
    public var expiresAt: Date?
    /// What the engine stored, as it encoded it.
    public var payload: [UInt8]

    /// Makes a record that is not stored yet, or a new state of one that was read.
    public init(
        kind: RecordKind, id: String, version: Int64 = 0, uniqueKeys: [String: String] = [:], indexedKeys: [String: String] = [:],
        expiresAt: Date? = nil, payload: [UInt8]
    ) {
        self.kind = kind
        self.id = id
        self.version = version
        self.uniqueKeys = uniqueKeys
        self.indexedKeys = indexedKeys
        self.expiresAt = expiresAt
        self.payload = payload
    }
}
