public import Foundation

/// The reason why a new sign-in does not answer a ``StepUpChallenge``. Another sign-in for the same request would not help: show the error
/// to the user. The tokens of the new sign-in have been revoked if a flow throws the error.
public enum StepUpError: Error, Equatable, Sendable {
    /// The server signed the user in with another assurance level than the challenge accepts. The value is the `acr` of the ID token; `nil`
    /// if it has none.
    case levelNotReached(_ acr: String?)
    /// The sign-in is older than the challenge accepts, or the ID token has no `auth_time`.
    case tooOld
    /// The new sign-in is not newer than the refused one and reaches no level that the challenge names. Or the new tokens have no ID token,
    /// and the refused ones had one.
    case unchanged
    /// Another user signed in.
    case otherUser
}

extension StepUpError: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        switch self {
        case .levelNotReached:
            ErrorText(
                "Your sign-in is not secure enough for this.", de: "Ihre Anmeldung ist dafür nicht sicher genug.",
                next: LocalizedText(
                    "Set up a stronger way to sign in, such as a passkey, then try again.",
                    de: "Richten Sie eine sicherere Anmeldemethode ein, zum Beispiel einen Passkey, und versuchen Sie es erneut."))
        case .tooOld:
            ErrorText(
                "Your last sign-in was too long ago for this.", de: "Ihre letzte Anmeldung liegt dafür zu lange zurück.",
                next: .contactSupport)
        case .unchanged:
            ErrorText(
                "Signing in again was not enough for this.", de: "Die erneute Anmeldung reicht dafür nicht aus.", next: .contactSupport)
        case .otherUser:
            ErrorText(
                "Another user signed in.", de: "Es hat sich eine andere Person angemeldet.",
                next: LocalizedText(
                    "Sign in with the same account to continue.", de: "Melden Sie sich mit demselben Konto an, um fortzufahren."))
        }
    }

    /// The reason and a remedy, for developers.
    public var debugDescription: String {
        switch self {
        case .levelNotReached(let acr):
            "The new sign-in does not have the required level (acr: \(acr ?? "none")). Set up a stronger factor, such as a passkey, before you try again."
        case .tooOld: "The new sign-in is too old for this request. The server did not ask for the credentials again."
        case .unchanged: "The new sign-in is no stronger and no newer than the one before. The server did not follow the request."
        case .otherUser: "Another user signed in. Sign in as the same user to continue."
        }
    }
}
