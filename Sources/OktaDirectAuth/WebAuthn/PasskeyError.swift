package import AuthFoundation
public import Foundation

/// The reason why the device did not sign with a passkey.
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

extension PasskeyError: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        switch self {
        case .cancelled:
            ErrorText("The sign-in with a passkey was cancelled.", de: "Die Anmeldung mit einem Passkey wurde abgebrochen.")
        case .noPasskey:
            ErrorText(
                "There is no passkey for this account on this device.", de: "Auf diesem Gerät gibt es keinen Passkey für dieses Konto.",
                next: .anotherWay)
        case .unusable:
            ErrorText(
                "This app can't use passkeys right now.", de: "Diese App kann gerade keine Passkeys verwenden.", next: .anotherWay)
        case .busy:
            ErrorText(
                "A request for a passkey is already open.", de: "Es ist bereits eine Passkey-Abfrage geöffnet.",
                next: LocalizedText("Finish it first.", de: "Schließen Sie diese zuerst ab."))
        case .failed:
            ErrorText("The passkey could not be used.", de: "Der Passkey konnte nicht verwendet werden.", next: .againOrAnotherWay)
        }
    }

    /// The reason and the system's text, for developers.
    public var debugDescription: String {
        switch self {
        case .cancelled: "The user closed the passkey sheet, or no passkey matches."
        case .noPasskey: "The system has no passkey for AutoFill."
        case .unusable(let text): "The passkey request cannot be signed: \(text)"
        case .busy: "Another passkey request of this authenticator is open."
        case .failed(let text): "The passkey request failed: \(text)"
        }
    }
}
