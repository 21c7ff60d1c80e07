package import Foundation
internal import JOSE

/// A notification to one application about the end of a session (OpenID Connect Back-Channel Logout 1.0 section 2.5). Descriptions do not
/// show the token.
package struct LogoutNotification: Sendable {
    package var id: String
    package var clientID: String
    /// The logout URI that the application registered.
    package var uri: String
    /// The logout token, a JWT.
    package var token: String
    /// The expiry of the token. The notification is not sent later.
    package var expiresAt: Date

    package init(id: String, clientID: String, uri: String, token: String, expiresAt: Date) {
        (self.id, self.clientID, self.uri, self.token, self.expiresAt) = (id, clientID, uri, token, expiresAt)
    }
}

extension LogoutNotification: Redacted {
    package var description: String { "LogoutNotification(\(id), \(clientID))" }
}

/// The final outcome of a notification. Each accepted notification has exactly one.
package enum LogoutOutcome: Sendable, Hashable {
    /// The application accepted the notification with status 200 or 204.
    case delivered
    /// The application rejected the notification, or replied with a redirect, which is not followed.
    case refused(status: Int)
    /// The notification expired, or the attempts ran out.
    case gaveUp(reason: String)
    /// Sending was cancelled.
    case interrupted
}

package protocol LogoutSender: Sendable {
    /// Sends one notification and retries temporary failures.
    func send(_ notification: LogoutNotification) async -> LogoutOutcome
}
