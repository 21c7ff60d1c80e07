package import Foundation

/// The kinds of records.
package enum RecordKind: String, Sendable, CaseIterable, Codable {
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
    package var isConfiguration: Bool {
        switch self {
        case .organization, .authorizationServer, .application, .group, .signOnPolicy, .passwordPolicy, .signingKey, .authenticator: true
        case .user, .enrollment, .device, .session, .consent, .transaction, .grant, .logEvent, .assertionID, .rememberedDevice,
            .hardwareCounter, .decoy, .masterKeyCheck:
            false
        }
    }
}

/// Names one record.
package struct RecordReference: Sendable, Hashable, Codable {
    /// The record's kind.
    package var kind: RecordKind
    /// The record's id within its kind.
    package var id: String

    /// Names a record.
    package init(_ kind: RecordKind, _ id: String) {
        self.kind = kind
        self.id = id
    }
}

/// A durable, versioned piece of state. The store knows its identity, its version and its declared keys; the payload is the engine's.
package struct Record: Sendable, Equatable {
    /// The record's kind.
    package var kind: RecordKind
    /// Unique within the kind, at most 200 bytes.
    package var id: String
    /// The version that was read; 0 for a record that is not stored yet.
    package var version: Int64
    /// Keys that at most one record of the kind may have, by name: `["login": "jane@example.com"]`.
    package var uniqueKeys: [String: String]
    /// Keys that many records may share, by name: `["user": "00u…"]`.
    package var indexedKeys: [String: String]
    /// When the record may be removed; nil keeps it.
    package var expiresAt: Date?
    /// What the engine stored, as it encoded it.
    package var payload: [UInt8]

    /// Makes a record that is not stored yet, or a new state of one that was read.
    package init(
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
