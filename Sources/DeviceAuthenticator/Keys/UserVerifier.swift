package import AuthFoundation
public import Foundation
public import JOSE

/// A verifier that checks that the owner of the device is present, before a user verification key is created or used. Called from any task;
/// the resolution of a challenge waits for the result. Apple's Keychain verifies the user itself. Elsewhere the app passes a verifier to
/// ``DeviceAuthenticatorBuilder/userVerifier(_:)``, which asks for a PIN, a security key or another proof.
///
/// ```swift
/// struct PINVerifier: UserVerifier {
///     func verify(_ request: UserVerificationRequest) async throws(UserVerificationFailure) -> UserVerification {
///         guard let pin = await askForPIN(request.reason) else { throw .cancelled }
///         return UserVerification(method: .pin, secret: Data(pin.utf8))
///     }
/// }
/// ```
///
/// A key that was created with a `secret` is sealed with it (scrypt, then AES-GCM, in addition to the store's own key). No code can use the
/// key without the secret. A short PIN only delays an attacker who has copied the device's files, including the key file. Without a secret,
/// only this call protects the key: a program that can read the store can use it.
public protocol UserVerifier: Sendable {
    /// Verifies the user. Returns the method, and the secret that unlocks the key, if the verifier has a secret.
    func verify(_ request: UserVerificationRequest) async throws(UserVerificationFailure) -> UserVerification
}

/// A request to verify the user.
public struct UserVerificationRequest: Sendable, Equatable {
    /// The purpose of a verification.
    public enum Purpose: Sendable, Equatable {
        /// The creation of a key. Each use of the key requires the same secret.
        case makeKey
        /// The approval of a challenge.
        case approve
    }

    /// The purpose of the verification.
    public let purpose: Purpose
    /// The text for the user, such as "Sign in to Acme Portal".
    public let reason: String
    /// The protection that the app chose when it turned on user verification.
    public let accessControlFlags: SecAccessControlCreateFlags

    /// Creates a request.
    public init(purpose: Purpose, reason: String, accessControlFlags: SecAccessControlCreateFlags = .biometryCurrentSet) {
        self.purpose = purpose
        self.reason = reason
        self.accessControlFlags = accessControlFlags
    }
}

/// The result of a verification.
public struct UserVerification: Sendable, Redacted {
    /// A verification method, as sent in the answer's `amr`.
    public enum Method: String, Sendable, CaseIterable {
        /// Face recognition.
        case face
        /// A fingerprint.
        case fingerprint = "fpt"
        /// A PIN or passcode.
        case pin
        /// Unknown, or several methods are possible.
        case none
    }

    /// The method of the verification.
    public let method: Method
    /// The secret that unlocks the key, such as a PIN; `nil` if the verifier has no secret.
    let secret: Data?

    /// Creates a result.
    /// - Parameter secret: The secret that unlocks the key, the same each time; `nil` if the verifier has no secret.
    public init(method: Method, secret: Data? = nil) {
        self.method = method
        self.secret = secret
    }

    /// The method, without the secret.
    public var description: String { "UserVerification(\(method.rawValue))" }
}

/// The reason why the user was not verified.
public enum UserVerificationFailure: Error, Sendable, Equatable, CaseIterable, LocalizedError, CustomDebugStringConvertible {
    /// The user cancelled.
    case cancelled
    /// The user is not the owner of the device, or entered a wrong secret.
    case failed
    /// The device has no means to verify the user.
    case unavailable

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    /// The reason and a remedy, for developers.
    public var debugDescription: String {
        switch self {
        case .cancelled: "The verification was cancelled. Try again."
        case .failed: "You could not be verified. Try again."
        case .unavailable: "This device has nothing to verify you with. Set up a PIN, passcode or biometrics."
        }
    }

    var securityError: SecurityError {
        switch self {
        case .cancelled: .localAuthenticationCancelled(self)
        case .failed: .localAuthenticationFailed(self)
        case .unavailable: .localAuthenticationPasscodeNotSet(self)
        }
    }
}

extension UserVerificationFailure: ClientError {
    package var userText: ErrorText {
        switch self {
        case .cancelled: .verificationCancelled
        case .failed: .verificationFailed
        case .unavailable: .verificationUnavailable
        }
    }
}
