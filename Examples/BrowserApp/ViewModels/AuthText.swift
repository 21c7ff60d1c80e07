internal import Wording

/// The words for a state, for both faces.
@MainActor
public enum AuthText {
    /// Whether somebody is signed in.
    ///
    /// - Parameter status: The status.
    /// - Returns: A line with its mark.
    public static func status(_ status: SignInStatus) -> String {
        switch status {
        case .loggedIn: "✅ " + words("Logged In")
        case .loggedOut: "🔒 " + words("Logged Out")
        case .sessionEnded: "⌛ " + words("Session Ended")
        }
    }

    /// What the main button does.
    ///
    /// - Parameter model: The view model.
    /// - Returns: Its label.
    public static func mainButton(_ model: AuthViewModel) -> String {
        model.isAuthenticated ? words("Sign Out") : words("Sign In")
    }
}
