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

    /// The localized description and the underlying error.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: errorDescription ?? ""]
        switch self {
        case .networkError(let error): info[NSUnderlyingErrorKey] = error
        case .securityError(let error): info[NSUnderlyingErrorKey] = error
        case .storageError(let error): info[NSUnderlyingErrorKey] = error
        default: break
        }
        return info
    }
}

extension DeviceAuthenticatorError: LocalizedError {
    /// The problem and the next step for the user.
    public var errorDescription: String? {
        switch self {
        case .serverAPIError(let result, let model): Self.text(of: result, model, reason: reason)
        case .networkError(let error):
            "The server can't be reached: \(Self.sentence(error.localizedDescription)) Check the connection and try again."
        case .securityError(let error): error.errorDescription
        case .storageError(let error): error.errorDescription
        case .genericError(let text), .internalError(let text): text
        case .accountNotFoundForChallenge:
            "The sign-in request is for an account that is not on this device. Add the account, or ignore the request."
        case .pushNotRecognized: "The notification is no sign-in request."
        case .noVerificationMethodsToEnroll:
            "The organization's authenticator offers no push. Ask the administrator to turn push on for the custom authenticator."
        }
    }

    /// Adds a full stop if the text has none. Only some systems end their messages with a full stop.
    private static func sentence(_ text: String) -> String { text.hasSuffix(".") ? text : text + "." }

    private static func text(of result: HTTPURLResult, _ model: ServerAPIErrorModel?, reason: Reason) -> String {
        let status = result.response?.statusCode ?? 0
        let detail = model?.errorSummary.map { " The server says: \($0)" } ?? ""
        let code = model?.errorCode.map { " (\($0.rawValue))" } ?? ""
        return switch reason {
        case .expired: "The sign-in request has expired. Start the sign-in again."
        case .alreadyAnswered: "The sign-in request was answered already, here or on another device."
        case .cancelled: "The sign-in was cancelled where it was started. Nothing is left to do here."
        case .userVerificationCancelled: "The verification was cancelled, so the sign-in was not approved. Start the sign-in again."
        case .userVerificationFailed: "You could not be verified, so the sign-in was not approved. Start the sign-in again."
        case .enrollmentGone: "The server no longer knows this account on this device\(code). Remove it here and enroll again.\(detail)"
        case .enrollmentSuspended: "The account or this device is suspended\(code). Ask the administrator.\(detail)"
        case .userVerificationRequired:
            "The organization asks for user verification on this device\(code). Turn it on and try again.\(detail)"
        case .tokenRefused: "The access token was refused\(code). Sign in again.\(detail)"
        case .notPermitted: "The access token does not permit this\(code). Sign in again with the needed scope.\(detail)"
        case .notFound: "The server does not know what the request is about\(code).\(detail)"
        case .clockWrong:
            "The server refused the request with status \(status)\(code).\(detail) \(result.error?.localizedDescription ?? "")"
        case .tooManyRequests: "The server asks to wait\(code). Try again later.\(detail)"
        default: "The server refused the request with status \(status)\(code).\(detail)"
        }
    }
}
