public import Foundation
public import JOSE

/// Verifies that the person who holds the device is its owner, before a user verification key is made or used.
///
/// Where the system does not do that itself (everywhere but with Apple's Keychain), the app gives one to
/// ``DeviceAuthenticatorBuilder/userVerifier(_:)``: it asks for a PIN, a security key, or whatever the device has.
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
/// What it guarantees: a key that was made with a `secret` is sealed with it (scrypt, then AES-GCM, together with the store's own key), so
/// that no code without the same secret can use it, this module's included. A short PIN only slows down who has copied the device's
/// files, key file included. A key made without a secret is guarded by this call alone: a program that can read the store can use it.
///
/// Called from any task; the resolution of a challenge waits for it.
public protocol UserVerifier: Sendable {
    /// Verifies the person.
    ///
    /// - Parameter request: What for.
    /// - Returns: How the person was verified, and the secret that unlocks the key, if there is one.
    /// - Throws: ``UserVerificationFailure``.
    func verify(_ request: UserVerificationRequest) async throws(UserVerificationFailure) -> UserVerification
}

/// What a person is verified for.
public struct UserVerificationRequest: Sendable, Equatable {
    /// What the verification leads to.
    public enum Purpose: Sendable, Equatable {
        /// A key is made; the secret that is given now is needed each time that it is used.
        case makeKey
        /// A challenge is approved.
        case approve
    }

    /// What the verification leads to.
    public let purpose: Purpose
    /// What to tell the person, such as "Sign in to Acme Portal".
    public let reason: String
    /// What the app asked for when user verification was turned on.
    public let accessControlFlags: SecAccessControlCreateFlags

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - purpose: What the verification leads to.
    ///   - reason: What to tell the person.
    ///   - accessControlFlags: What the app asked for.
    public init(purpose: Purpose, reason: String, accessControlFlags: SecAccessControlCreateFlags = .biometryCurrentSet) {
        self.purpose = purpose
        self.reason = reason
        self.accessControlFlags = accessControlFlags
    }
}

/// How a person was verified.
public struct UserVerification: Sendable, Redacted {
    /// The method, as the answer's `amr` names it.
    public enum Method: String, Sendable, CaseIterable {
        /// The face.
        case face
        /// A fingerprint.
        case fingerprint = "fpt"
        /// A PIN or passcode.
        case pin
        /// Not known.
        case none
    }

    /// The method.
    public let method: Method
    /// What unlocks the key, such as the PIN; nil if the verifier has none.
    let secret: Data?

    /// Makes a verification.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - secret: What unlocks the key, the same each time; nil if the verifier has none.
    public init(method: Method, secret: Data? = nil) {
        self.method = method
        self.secret = secret
    }

    /// The method; nothing of the secret.
    public var description: String { "UserVerification(\(method.rawValue))" }
}

/// Why a person was not verified.
public enum UserVerificationFailure: Error, Sendable, Equatable, CaseIterable, LocalizedError {
    /// The person gave up.
    case cancelled
    /// The person is not who they must be, or mistyped.
    case failed
    /// The device has nothing to verify with.
    case unavailable

    /// What happened and what to do next.
    public var errorDescription: String? {
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
