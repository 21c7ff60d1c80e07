public import Foundation

/// One line of the system log: who did what, to what, with which outcome, and which rule decided. Never a secret.
public struct LogEvent: Sendable, Equatable, Codable {
    /// How it ended.
    public enum Outcome: String, Sendable, Codable {
        /// As was wanted.
        case success
        /// It failed: a wrong password, for example.
        case failure
        /// A policy or a person said no.
        case denied
    }

    /// Unique; sorts by time.
    public var id: String
    /// When.
    public var time: Date
    /// What: `user.authentication.password`, `token.grant.refresh`, `grant.revoked`, …
    public var type: String
    /// How it ended.
    public var outcome: Outcome
    /// The check or rule that decided.
    public var reason: String?
    /// The user's id or, unknown to the store, nothing.
    public var userID: String?
    /// The client's id.
    public var clientID: String?
    /// The authorization server's issuer id.
    public var server: String?
    /// The request's id.
    public var requestID: String
    /// The peer's address.
    public var address: String?

    /// Describes an event.
    public init(
        id: String, time: Date, type: String, outcome: Outcome, reason: String? = nil, userID: String? = nil, clientID: String? = nil,
        server: String? = nil, requestID: String, address: String? = nil
    ) {
        self.id = id
        self.time = time
        self.type = type
        self.outcome = outcome
        self.reason = reason
        self.userID = userID
        self.clientID = clientID
        self.server = server
        self.requestID = requestID
        self.address = address
    }
}
