internal import Wording

/// A text with a symbol. Screen readers omit the symbol.
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
    /// Returns the text for a sign-in status.
    public static func status(_ status: SignInStatus) -> MarkedText {
        switch status {
        case .loggedIn: MarkedText(mark: "✅", words: words("Logged In"))
        case .loggedOut: MarkedText(mark: "🔒", words: words("Logged Out"))
        case .sessionEnded: MarkedText(mark: "⌛", words: words("Session Ended"))
        }
    }

    /// Returns the label of the main button.
    ///
    /// - Parameter model: The view model.
    public static func mainButton(_ model: AuthViewModel) -> String {
        model.isAuthenticated ? words("Sign Out") : words("Sign In")
    }

    /// The label of the button that refreshes the tokens.
    public static var refresh: MarkedText { MarkedText(mark: "🔄", words: words("Refresh Token")) }
    /// The label of the button that shows the content of the ID token. The SwiftUI view replaces the symbol with a system symbol.
    public static var tokenInfo: MarkedText { MarkedText(mark: "ℹ", words: words("Token Info")) }
    /// The label of the button that shows the profile.
    public static var userInfo: MarkedText { MarkedText(mark: "👤", words: words("User Info")) }
    /// The label of the button that calls the API.
    public static var message: MarkedText { MarkedText(mark: "🎁", words: words("Get Message")) }
    /// The label of the button that calls the API for a private message.
    public static var privateMessage: MarkedText { MarkedText(mark: "🔐", words: words("Private Message")) }
}
