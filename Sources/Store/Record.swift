package import Foundation

package enum RecordKind: String, Sendable, CaseIterable, Codable {
    case organization
    case authorizationServer
    case application
    case group
    case signOnPolicy
    case passwordPolicy
    case signingKey
    /// An app that confirms sign-ins by push.
    case authenticator
    case user
    /// A factor that a user enrolled.
    case enrollment
    case device
    /// A browser session.
    case session
    /// The scopes that a user granted to an application.
    case consent
    /// A sign-in in progress.
    case transaction
    /// An issuance of tokens, with its refresh tokens.
    case grant
    /// An entry of the system log.
    case logEvent
    /// The id of a used assertion, to reject replays.
    case assertionID
    /// A device that is exempt from the second factor.
    case rememberedDevice
    /// The counter of a removed hardware device, so that its old codes stay invalid.
    case hardwareCounter
    /// A meaningless record that a failed sign-in writes for an unknown user name.
    case decoy
    /// A count of messages or guesses towards a limit of all servers together.
    case limitCount
    /// A notification that tells an application that a session has ended, and that waits for its delivery.
    case logoutNotice
    /// A value sealed with the master key, to detect a different key.
    case masterKeyCheck
    /// A server process that answers requests.
    case runningServer

    /// Whether records of this kind are configuration: few, read often, and cached.
    package var isConfiguration: Bool {
        switch self {
        case .organization, .authorizationServer, .application, .group, .signOnPolicy, .passwordPolicy, .signingKey, .authenticator: true
        case .user, .enrollment, .device, .session, .consent, .transaction, .grant, .logEvent, .assertionID, .rememberedDevice,
            .hardwareCounter, .decoy, .limitCount, .logoutNotice, .masterKeyCheck, .runningServer:
            false
        }
    }
}

/// The kind and the id of a record, which identify it.
package struct RecordReference: Sendable, Hashable, Codable {
    package var kind: RecordKind
    package var id: String

    package init(_ kind: RecordKind, _ id: String) {
        self.kind = kind
        self.id = id
    }
}

/// A durable, versioned record. The store interprets its identity, version and keys; the payload belongs to the engine.
package struct Record: Sendable, Equatable {
    package var kind: RecordKind
    /// The record's id: unique within the kind, at most 200 bytes.
    package var id: String
    /// The version that was read; 0 for a record that is not stored yet.
    package var version: Int64
    /// Keys that at most one record of the kind may have, by name: `["login": "jane@example.com"]`.
    package var uniqueKeys: [String: String]
    /// Keys that many records may share, by name: `["user": "00u…"]`.
    package var indexedKeys: [String: String]
    /// The time after which the record may be removed; `nil` for a record that does not expire.
    package var expiresAt: Date?
    /// The data, in the engine's encoding.
    package var payload: [UInt8]

    /// Creates a new record, or a new version of one that was read.
    package init(
        kind: RecordKind, id: String, version: Int64 = 0, uniqueKeys: [String: String] = [:], indexedKeys: [String: String] = [:],
        expiresAt: Date? = nil, payload: [UInt8]
    ) {
        (self.kind, self.id, self.version, self.uniqueKeys, self.indexedKeys) = (kind, id, version, uniqueKeys, indexedKeys)
        (self.expiresAt, self.payload) = (expiresAt, payload)
    }
}
