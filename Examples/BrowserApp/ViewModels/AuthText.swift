internal import Wording

/// A text with a symbol that screen readers omit.
public struct MarkedText: Sendable, Equatable {
    /// The symbol, one or two characters.
    public let mark: String
    /// The text.
    public let words: String

    /// The symbol and the text.
    public var text: String { mark + " " + words }
}

/// The texts for states and buttons, for both user interfaces.
@MainActor
public enum AuthText {
    /// Whether a user is signed in.
    ///
    /// - Parameter status: The status.
    /// - Returns: The text.
    public static func status(_ status: SignInStatus) -> MarkedText {
        switch status {
        case .loggedIn: MarkedText(mark: "✅", words: words("Logged In"))
        case .loggedOut: MarkedText(mark: "🔒", words: words("Logged Out"))
        case .sessionEnded: MarkedText(mark: "⌛", words: words("Session Ended"))
        }
    }

    /// The action of the main button.
    ///
    /// - Parameter model: The view model.
    /// - Returns: Its label.
    public static func mainButton(_ model: AuthViewModel) -> String {
        model.isAuthenticated ? words("Sign Out") : words("Sign In")
    }

    /// The button that refreshes the tokens.
    public static var refresh: MarkedText { MarkedText(mark: "🔄", words: words("Refresh Token")) }
    /// The button that shows the content of the ID token. On an iPhone its symbol is a system symbol.
    public static var tokenInfo: MarkedText { MarkedText(mark: "ℹ", words: words("Token Info")) }
    /// The button that shows the profile.
    public static var userInfo: MarkedText { MarkedText(mark: "👤", words: words("User Info")) }
    /// The button that calls the API.
    public static var message: MarkedText { MarkedText(mark: "🎁", words: words("Get Message")) }
}
