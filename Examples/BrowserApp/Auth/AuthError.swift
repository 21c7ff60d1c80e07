public import Foundation
internal import Wording

/// Why the service could not do what it was asked for.
public enum AuthError: Error, Sendable, Equatable {
    /// The app has no settings to sign in with.
    case notConfigured(reason: String)
    /// The API did not take the access token. `challenge` is what it wants instead (`WWW-Authenticate`), if it says so.
    case tokenRefused(challenge: String?)
    /// The API answered with that HTTP status.
    case unexpectedAnswer(status: Int)
}

extension AuthError: LocalizedError {
    /// The problem and its remedy.
    public var errorDescription: String? {
        switch self {
        case .notConfigured(let reason): words("This app is not configured. %@", reason)
        case .tokenRefused(let challenge?): words("The API refused the token: %@", challenge)
        case .tokenRefused(nil): words("The API refused the token.")
        case .unexpectedAnswer(let status): words("The API answered with status %@.", String(status))
        }
    }
}
