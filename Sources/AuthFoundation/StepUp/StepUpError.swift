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

extension StepUpError: LocalizedError {
    /// A description of the error and a remedy.
    public var errorDescription: String? {
        switch self {
        case .levelNotReached(let acr):
            "The new sign-in does not have the required level (acr: \(acr ?? "none")). Set up a stronger factor, such as a passkey, before you try again."
        case .tooOld: "The new sign-in is too old for this request. The server did not ask for the credentials again."
        case .unchanged: "The new sign-in is no stronger and no newer than the one before. The server did not follow the request."
        case .otherUser: "Another user signed in. Sign in as the same user to continue."
        }
    }
}
