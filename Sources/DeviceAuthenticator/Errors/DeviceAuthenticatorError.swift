public import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of ``DeviceAuthenticatorError`` as an `NSError`.
public let DeviceAuthenticatorErrorDomain: String = "DeviceAuthenticator.DeviceAuthenticatorError"

/// What went wrong. ``reason-swift.property`` tells apart what a case alone does not.
///
/// Two errors are equal when their ``errorCode`` is, as published; compare ``reason-swift.property`` to tell more.
public enum DeviceAuthenticatorError: Error, Sendable {
    /// The server answered with another status than 2xx.
    case serverAPIError(HTTPURLResult, ServerAPIErrorModel?)
    /// No answer came.
    case networkError(any Error)
    /// A key or a token failed.
    case securityError(SecurityError)
    /// Stored data failed.
    case storageError(StorageError)
    /// Something is not as it must be.
    case genericError(String)
    /// The server's answer, or this module's own state, can't be used.
    case internalError(String)
    /// A challenge is for an enrollment that is not on this device.
    case accountNotFoundForChallenge(any ChallengeProtocol)
    /// A push is not one of the org's.
    case pushNotRecognized
    /// The authenticator offers no push method.
    case noVerificationMethodsToEnroll
}

extension DeviceAuthenticatorError: Equatable {
    /// Whether two errors have the same ``errorCode``.
    ///
    /// - Parameters:
    ///   - lhs: An error.
    ///   - rhs: An error.
    /// - Returns: Whether they have the same code.
    public static func == (lhs: DeviceAuthenticatorError, rhs: DeviceAuthenticatorError) -> Bool { lhs.errorCode == rhs.errorCode }
}

extension DeviceAuthenticatorError: CustomNSError {
    /// ``DeviceAuthenticatorErrorDomain``.
    public static var errorDomain: String { DeviceAuthenticatorErrorDomain }

    /// −1 to −9, in the order of the cases.
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

    /// The text for people, and the error below this one.
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
    /// What happened and what to do next.
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

    /// Some systems end what they say by a full stop, and others don't.
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
