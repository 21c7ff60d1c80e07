public import Foundation
public import JOSE

// The texts are here and not in JOSE, because JOSE has no texts for users: it is also a part of servers.
extension JOSEError: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        switch code {
        case .expired, .notYetValid, .issuedInFuture: ErrorText(ErrorText.signInExpired.description, next: .checkClockAndSignIn)
        case .unsupportedAlgorithm, .algorithmNotAllowed: .appSetup
        default: .notVerified
        }
    }

    /// The message and the code, for developers.
    public var debugDescription: String { technicalText(message, [code.rawValue]) }
}
