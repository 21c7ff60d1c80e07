internal import Wording

/// Words with a mark before them, which is seen and not read out.
public struct MarkedText: Sendable, Equatable {
    /// A character or two.
    public let mark: String
    /// The words.
    public let words: String

    /// Both.
    public var text: String { mark + " " + words }
}

/// The words for states and buttons, for both faces.
@MainActor
public enum AuthText {
    /// Whether a user is signed in.
    ///
    /// - Parameter status: The status.
    /// - Returns: The words.
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

    /// The button that gets new tokens.
    public static var refresh: MarkedText { MarkedText(mark: "🔄", words: words("Refresh Token")) }
    /// The button that shows what the id token says. On an iPhone its mark is a symbol of the system.
    public static var tokenInfo: MarkedText { MarkedText(mark: "ℹ", words: words("Token Info")) }
    /// The button that shows the profile.
    public static var userInfo: MarkedText { MarkedText(mark: "👤", words: words("User Info")) }
    /// The button that asks the API.
    public static var message: MarkedText { MarkedText(mark: "🎁", words: words("Get Message")) }
}
