public import Foundation

#if canImport(Security)
import Security
#endif

/// An error of the Keychain.
public enum KeychainError: Error, LocalizedError, CustomDebugStringConvertible, ClientError, Equatable, Sendable {
    /// An item cannot be read.
    case cannotGet(code: OSStatus)
    /// Items cannot be listed.
    case cannotList(code: OSStatus)
    /// An item cannot be saved.
    case cannotSave(code: OSStatus)
    /// An item cannot be deleted.
    case cannotDelete(code: OSStatus)
    /// An item cannot be updated.
    case cannotUpdate(code: OSStatus)
    /// The access control cannot be created.
    case accessControlInvalid(code: OSStatus, description: String?)
    /// There is no such item.
    case notFound
    /// An item has an unexpected format.
    case invalidFormat
    /// The accessibility is unknown.
    case invalidAccessibilityOption
    /// An item has no account.
    case missingAccount
    /// An item has no value.
    case missingValueData
    /// An item lacks an attribute.
    case missingAttribute

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        switch status {
        case KeychainStatus.interactionNotAllowed: return .deviceLocked
        case KeychainStatus.userCanceled: return .cancelled
        default: break
        }
        return switch self {
        case .cannotGet, .cannotList: ErrorText(ErrorText.storedUnreadable.description, next: .tryAgain)
        case .cannotSave, .cannotUpdate: .notSaved
        case .cannotDelete:
            ErrorText(
                "Your sign-in could not be removed from this device.",
                de: "Ihre Anmeldung konnte nicht von diesem Gerät entfernt werden.", next: .tryAgain)
        case .accessControlInvalid, .invalidAccessibilityOption: .appSetup
        case .notFound: .notSignedIn
        case .invalidFormat, .missingAccount, .missingValueData, .missingAttribute: .storedUnreadable
        }
    }

    /// The reason and the status code of the Keychain, for developers.
    public var debugDescription: String {
        switch self {
        case .cannotGet(let code): "The Keychain item can't be read (\(Self.text(code)))."
        case .cannotList(let code): "The Keychain items can't be listed (\(Self.text(code)))."
        case .cannotSave(let code): "The Keychain item can't be saved (\(Self.text(code))). Check the app's Keychain entitlement."
        case .cannotDelete(let code): "The Keychain item can't be deleted (\(Self.text(code)))."
        case .cannotUpdate(let code): "The Keychain item can't be updated (\(Self.text(code)))."
        case .accessControlInvalid(let code, let description):
            "The access control is not valid: \(description ?? Self.text(code))."
        case .notFound: "There is no such Keychain item. Sign in again."
        case .invalidFormat: "The Keychain item has a form that this version does not know. It was left as it is."
        case .invalidAccessibilityOption: "The accessibility of the Keychain item is not known."
        case .missingAccount: "The Keychain item has no account."
        case .missingValueData: "The Keychain item has no value."
        case .missingAttribute: "The Keychain item lacks an attribute."
        }
    }

    /// Whether the device is locked, or the user could not be asked to unlock the item. The user is still signed in: try again after the
    /// device was unlocked.
    public var isLocked: Bool { status == KeychainStatus.interactionNotAllowed }

    /// The status code of a failed operation; `nil` for other errors.
    private var status: OSStatus? {
        switch self {
        case .cannotGet(let code), .cannotList(let code), .cannotSave(let code), .cannotDelete(let code), .cannotUpdate(let code): code
        default: nil
        }
    }

    private static func text(_ code: OSStatus) -> String {
        #if canImport(Security)
        if let message = SecCopyErrorMessageString(code, nil) as String? { return "\(message), \(code)" }
        #endif
        return "status \(code)"
    }
}
