package import Foundation
internal import JOSE

/// One word to one application that a session is over (OpenID Connect Back-Channel Logout 1.0 section 2.5).
///
/// Its descriptions do not show the token.
package struct LogoutNotification: Sendable {
    /// Its own id, that of the token.
    package var id: String
    /// Who is told.
    package var clientID: String
    /// Where: the URI that the application registered, and no other.
    package var uri: String
    /// The signed logout token.
    package var token: String
    /// Nobody takes the token after that.
    package var expiresAt: Date

    /// Describes a notification.
    package init(id: String, clientID: String, uri: String, token: String, expiresAt: Date) {
        self.id = id
        self.clientID = clientID
        self.uri = uri
        self.token = token
        self.expiresAt = expiresAt
    }
}

extension LogoutNotification: Redacted {
    /// The id and the application.
    package var description: String { "LogoutNotification(\(id), \(clientID))" }
}

/// How a notification ended. Every one that was taken ends in exactly one of these.
package enum LogoutOutcome: Sendable, Hashable {
    /// The application took it: status 200 or 204.
    case delivered
    /// The application refused it, or sent it elsewhere, where it does not go.
    case refused(status: Int)
    /// It was tried, and time or tries ran out.
    case gaveUp(reason: String)
}

/// Tells applications that sessions are over.
package protocol LogoutSender: Sendable {
    /// Sends one notification, and tries again as long as that makes sense.
    ///
    /// - Parameter notification: What to send, and where.
    /// - Returns: How it ended.
    func send(_ notification: LogoutNotification) async -> LogoutOutcome
}
