internal import Foundation
internal import IdentityCore
package import OAuthWire

/// The response of the logout endpoint.
package struct LogoutAnswer: Sendable {
    package enum Outcome: Sendable {
        case confirm(LogoutQuestion)
        /// A redirect to the client's registered URI, with its `state`.
        case redirect(to: String)
        /// The page after signing out.
        case signedOut
        /// The error page of an invalid request. No session was ended.
        case refused(HostedRefusal)
    }

    package var outcome: Outcome
    /// Whether the browser's session cookie is invalid from now on.
    package var endsCookie = false

    init(_ outcome: Outcome, endsCookie: Bool = false) {
        self.outcome = outcome
        self.endsCookie = endsCookie
    }
}

/// The content of the confirmation page.
package struct LogoutQuestion: Sendable {
    /// The application that sent the user; `nil` if unknown.
    package var applicationName: String?
    package var formToken: String
    /// The request parameters that the form repeats, in order.
    package var parameters: [AuthorizationResponse.Parameter]
    /// The redirect URI after the submission of the form; `nil` for the server's own page.
    package var returnURI: String?
    /// The client's requested languages, in order of preference.
    package var locales: [String]
}
