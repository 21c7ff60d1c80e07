public import Foundation

/// The reason why the device did not sign with a passkey. The descriptions are for users.
public enum PasskeyError: Error, Sendable, Equatable {
    /// The user closed the sheet, or no passkey matches. Show the sign-in screen again, without an error.
    case cancelled
    /// The system has no passkey for AutoFill, and must not show its sheet without an action of the user.
    case noPasskey
    /// The request cannot be signed: the app's entitlement `webcredentials` or the domain's AASA file is missing, or the options are
    /// malformed. The text is for developers.
    case unusable(String)
    /// Another request of this authenticator is open.
    case busy
    /// The device failed. The text is for developers.
    case failed(String)

    /// Creates the error of an `ASAuthorizationError`, by its code.
    init(authorizationCode code: Int, _ text: String) {
        self =
            switch code {
            case 1001: .cancelled
            case 1005: .noPasskey
            case 1004: .unusable(text)
            default: .failed(text)
            }
    }
}

extension PasskeyError: LocalizedError {
    /// The sentence for the user.
    public var errorDescription: String? {
        switch self {
        case .cancelled: "The sign-in with a passkey was cancelled."
        case .noPasskey: "There is no passkey for this account on this device."
        case .unusable: "This app cannot use passkeys now. Sign in another way."
        case .busy: "Finish the open request for a passkey first."
        case .failed: "The passkey could not be used. Try again, or sign in another way."
        }
    }
}
