internal import Foundation
package import IdentityCore
package import OAuthWire

/// What the logout endpoint answers.
package struct LogoutAnswer: Sendable {
    /// What the browser is shown, or where it is sent.
    package enum Outcome: Sendable {
        /// A page that asks whether they want to sign out.
        case confirm(LogoutQuestion)
        /// Back to the client: a URI that it registered, with its `state`.
        case goOn(to: String)
        /// A page that says that they are signed out.
        case signedOut
        /// A page that says what is wrong with the request; nothing ended, and nothing is sent anywhere.
        case refused(HostedRefusal)
    }

    /// What the browser is shown, or where it is sent.
    package var outcome: Outcome
    /// Whether the browser's session cookie is worth nothing any more.
    package var endsCookie = false
    /// What applications are to be told now; each at most once.
    package var logouts: [BackchannelLogout] = []

    init(_ outcome: Outcome, endsCookie: Bool = false) {
        self.outcome = outcome
        self.endsCookie = endsCookie
    }
}

/// What the page asks before somebody is signed out who did not prove to have asked for it.
package struct LogoutQuestion: Sendable {
    /// The application that sent them; nil if none said so.
    package var applicationName: String?
    /// What the form must carry.
    package var formToken: String
    /// What the form repeats of the request, in order.
    package var parameters: [AuthorizationResponse.Parameter]
    /// Where the form leads to in the end; nil for a page of the server's own.
    package var returnURI: String?
    /// The languages that the client asked for, in order of preference.
    package var locales: [String]
}
