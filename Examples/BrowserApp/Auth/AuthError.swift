public import Foundation
internal import Wording

/// A failure of the service.
public enum AuthError: Error, Sendable, Equatable {
    /// The app has no sign-in settings.
    case notConfigured(reason: String)
    /// The API rejected the access token. `challenge` is the value of `WWW-Authenticate`; `nil` if the API did not send it.
    case tokenRefused(challenge: String?)
    /// The API responded with this HTTP status.
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
