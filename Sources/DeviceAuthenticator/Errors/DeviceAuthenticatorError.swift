internal import AuthFoundation
public import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The `NSError` domain of ``DeviceAuthenticatorError``.
public let DeviceAuthenticatorErrorDomain: String = "DeviceAuthenticator.DeviceAuthenticatorError"

/// The error type of this module. Errors are equal if their ``errorCode`` is equal; use ``reason-swift.property`` for finer distinctions.
public enum DeviceAuthenticatorError: Error, Sendable {
    /// The server responded with a status other than 2xx.
    case serverAPIError(HTTPURLResult, ServerAPIErrorModel?)
    /// No response was received.
    case networkError(any Error)
    /// A key or token operation failed.
    case securityError(SecurityError)
    /// A storage operation failed.
    case storageError(StorageError)
    /// Another failure, described by the text.
    case genericError(String)
    /// The server's response or the module's own state is invalid.
    case internalError(String)
    /// The challenge is for an enrollment that is not on this device.
    case accountNotFoundForChallenge(any ChallengeProtocol)
    /// The push is not a challenge of the org.
    case pushNotRecognized
    /// The authenticator does not offer the push method.
    case noVerificationMethodsToEnroll
}

extension DeviceAuthenticatorError: Equatable {
    /// Returns whether two errors have the same ``errorCode``.
    public static func == (lhs: DeviceAuthenticatorError, rhs: DeviceAuthenticatorError) -> Bool { lhs.errorCode == rhs.errorCode }
}

extension DeviceAuthenticatorError: CustomNSError {
    /// ``DeviceAuthenticatorErrorDomain``.
    public static var errorDomain: String { DeviceAuthenticatorErrorDomain }

    /// A code from −1 to −9, in the order of the cases.
    public var errorCode: Int {
        switch self {
        case .serverAPIError: -1
        case .networkError: -2
        case .securityError: -3
        case .storageError: -4
        case .genericError: -5
        case .internalError: -6
        case .accountNotFoundForChallenge: -7
        case .pushNotRecognized: -8
        case .noVerificationMethodsToEnroll: -9
        }
    }

    /// The texts for the user and the underlying error.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: userText.description.text]
        info[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion
        switch self {
        case .networkError(let error): info[NSUnderlyingErrorKey] = error
        case .securityError(let error): info[NSUnderlyingErrorKey] = error
        case .storageError(let error): info[NSUnderlyingErrorKey] = error
        default: break
        }
        return info
    }
}

extension DeviceAuthenticatorError: LocalizedError, CustomDebugStringConvertible {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    /// The reason and a remedy, with the code, the HTTP status and the IDs of the server's response. For developers.
    public var debugDescription: String {
        switch self {
        case .serverAPIError(let result, let model): Self.explanation(of: result, model, reason: reason)
        case .networkError(let error): "The server can't be reached: \(technicalText(of: error))"
        case .securityError(let error): error.debugDescription
        case .storageError(let error): error.debugDescription
        case .genericError(let text), .internalError(let text): text
        case .accountNotFoundForChallenge:
            "The sign-in request is for an account that is not on this device. Add the account, or ignore the request."
        case .pushNotRecognized: "The notification is no sign-in request."
        case .noVerificationMethodsToEnroll:
            "The organization's authenticator offers no push. Ask the administrator to turn push on for the custom authenticator."
        }
    }

    private static func explanation(of result: HTTPURLResult, _ model: ServerAPIErrorModel?, reason: Reason) -> String {
        let says = model?.errorSummary.map { " The server says: \($0)" } ?? ""
        return technicalText(
            sentence(for: reason) + says,
            [
                model?.errorCode?.rawValue, result.response.map { "status \($0.statusCode)" }, model?.errorId.map { "error \($0)" },
                result.response?.value(forHTTPHeaderField: "X-Okta-Request-Id").map { "request \($0)" },
            ], causedBy: result.error)
    }

    private static func sentence(for reason: Reason) -> String {
        switch reason {
        case .expired: "The sign-in request has expired. Start the sign-in again."
        case .alreadyAnswered: "The sign-in request was answered already, here or on another device."
        case .cancelled: "The sign-in was cancelled where it was started. Nothing is left to do here."
        case .userVerificationCancelled: "The verification was cancelled, so the sign-in was not approved. Start the sign-in again."
        case .userVerificationFailed: "You could not be verified, so the sign-in was not approved. Start the sign-in again."
        case .enrollmentGone: "The server no longer knows this account on this device. Remove it here and enroll again."
        case .enrollmentSuspended: "The account or this device is suspended. Ask the administrator."
        case .userVerificationRequired: "The organization asks for user verification on this device. Turn it on and try again."
        case .tokenRefused: "The access token was refused. Sign in again."
        case .notPermitted: "The access token does not permit this. Sign in again with the needed scope."
        case .notFound: "The server does not know what the request is about."
        case .tooManyRequests: "The server asks to wait. Try again later."
        default: "The server refused the request."
        }
    }
}
