public import Foundation
internal import Wording

/// The reason why a sign-in cannot begin, or why a successful sign-in returns no tokens.
public enum ClassicError: LocalizedError, Equatable {
    /// The app has no sign-in settings.
    case notConfigured(reason: String)
    /// The client requires more than the sign-in has proved, such as a second factor.
    case moreIsAsked(client: String)

    /// The problem and its remedy.
    public var errorDescription: String? {
        switch self {
        case .notConfigured(let reason): words("This app is not configured. %@", reason)
        case .moreIsAsked(let client):
            words("You are signed in, but “%@” requires more than this sign-in has proved, for example a second factor.", client)
        }
    }
}
