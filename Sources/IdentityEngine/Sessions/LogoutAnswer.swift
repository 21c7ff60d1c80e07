/// What the logout endpoint answers.
public struct LogoutAnswer: Sendable {
    /// What the browser is shown, or where it is sent.
    public enum Outcome: Sendable {
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
    public var outcome: Outcome
    /// Whether the browser's session cookie is worth nothing any more.
    public var endsCookie = false
    /// What applications are to be told now; each at most once.
    public var logouts: [BackchannelLogout] = []

    init(_ outcome: Outcome, endsCookie: Bool = false) {
        self.outcome = outcome
        self.endsCookie = endsCookie
    }
}

/// What the page asks before somebody is signed out who did not prove to have asked for it.
public struct LogoutQuestion: Sendable {
    /// The application that sent them; nil if none said so.
    public var applicationName: String?
    /// What the form must carry.
    public var formToken: String
    /// What the form repeats of the request, in order.
    public var parameters: [AuthorizationResponse.Parameter]
    /// Where the form leads to in the end; nil for a page of the server's own.
    public var returnURI: String?
    /// The languages that the client asked for, in order of preference.
    public var locales: [String]
}
