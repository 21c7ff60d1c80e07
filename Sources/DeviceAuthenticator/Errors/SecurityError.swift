internal import AuthFoundation
public import Foundation

#if canImport(Security)
internal import Security
#endif

#if !canImport(Darwin)
/// The result code of Apple's Security framework, for cases of ``SecurityError``.
public typealias OSStatus = Int32
#endif

/// An error of a key or token. `parsePushNotification` throws it directly; other functions wrap it in
/// ``DeviceAuthenticatorError/securityError(_:)``. Texts contain no secrets.
public enum SecurityError: Error, Equatable, Sendable {
    /// A token could not be signed.
    case failedToSignPayload(String)
    /// A key could not be created.
    case keyGenFailed(OSStatus, String)
    /// A key is damaged or missing; ``DeviceKeyError`` tells which.
    case keyCorrupted(any Error)
    /// The user cancelled the verification.
    case localAuthenticationCancelled(any Error)
    /// The device has no means to verify the user.
    case localAuthenticationPasscodeNotSet(any Error)
    /// The user could not be verified.
    case localAuthenticationFailed(any Error)
    /// A cryptographic operation failed.
    case generalEncryptionError(OSStatus, (any Error)?, String)
    /// A key has no usable public part.
    case jwkError(String)
    /// A token was rejected.
    case jwtError(String)
    /// Data could not be encrypted or decrypted.
    case dataEncryptionDecryptionError((any Error)?)

    /// Returns whether two errors have the same case and texts. Nested errors are compared by domain and code.
    public static func == (lhs: SecurityError, rhs: SecurityError) -> Bool {
        switch (lhs, rhs) {
        case (.failedToSignPayload(let left), .failedToSignPayload(let right)), (.jwkError(let left), .jwkError(let right)),
            (.jwtError(let left), .jwtError(let right)):
            left == right
        case (.keyGenFailed(let leftCode, let left), .keyGenFailed(let rightCode, let right)): leftCode == rightCode && left == right
        case (.keyCorrupted(let left), .keyCorrupted(let right)),
            (.localAuthenticationCancelled(let left), .localAuthenticationCancelled(let right)),
            (.localAuthenticationPasscodeNotSet(let left), .localAuthenticationPasscodeNotSet(let right)),
            (.localAuthenticationFailed(let left), .localAuthenticationFailed(let right)):
            isSame(left, right)
        case (
            .generalEncryptionError(let leftCode, let leftError, let left),
            .generalEncryptionError(let rightCode, let rightError, let right)
        ):
            leftCode == rightCode && left == right && isSame(leftError, rightError)
        case (.dataEncryptionDecryptionError(let left), .dataEncryptionDecryptionError(let right)): isSame(left, right)
        default: false
        }
    }

    private static func isSame(_ left: (any Error)?, _ right: (any Error)?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return (left as NSError).domain == (right as NSError).domain && (left as NSError).code == (right as NSError).code
    }
}

extension SecurityError: LocalizedError {
    /// The problem and the next step for the user.
    public var errorDescription: String? {
        switch self {
        case .failedToSignPayload(let text): "The answer could not be signed: \(text)"
        case .keyGenFailed(let code, let text): "A key could not be made (\(code)): \(text)"
        case .keyCorrupted:
            "The key of this enrollment is damaged or gone. Turn user verification on again, or remove the account here and enroll again."
        case .localAuthenticationCancelled: "The verification was cancelled. Try again."
        case .localAuthenticationPasscodeNotSet:
            "This device has nothing to verify you with. Set up a passcode or biometrics, or give the authenticator a user verifier."
        case .localAuthenticationFailed: "You could not be verified. Try again."
        case .generalEncryptionError(let code, _, let text): "A cryptographic operation failed (\(code)): \(text)"
        case .jwkError(let text): "The key can't be used: \(text)"
        case .jwtError(let text): "The sign-in request was refused: \(text). Ask for a new one."
        case .dataEncryptionDecryptionError: "Stored data could not be encrypted or decrypted."
        }
    }
}

#if canImport(Security)
extension SecurityError {
    /// Converts a signing error of the Keychain or the Secure Enclave.
    /// - Parameter signingError: The error of `SecKeyCreateSignature`; this function takes ownership.
    public static func create(with signingError: Unmanaged<CFError>?) -> SecurityError {
        guard let error = signingError?.takeRetainedValue() else {
            return .generalEncryptionError(errSecInternalError, nil, "The signature failed and the system did not say why.")
        }
        let details = error as any Error as NSError
        switch (details.domain, details.code) {
        case ("com.apple.LocalAuthentication", -1): return .localAuthenticationFailed(details)
        case ("com.apple.LocalAuthentication", -2): return .localAuthenticationCancelled(details)
        case ("com.apple.LocalAuthentication", -5): return .localAuthenticationPasscodeNotSet(details)
        case ("CryptoTokenKit", -3): return .keyCorrupted(details)
        default: return .generalEncryptionError(OSStatus(truncatingIfNeeded: details.code), details, "The signature failed.")
        }
    }
}
#endif

/// An error of stored data. Data is never deleted because it is unreadable.
public enum StorageError: Error, Equatable, Sendable {
    /// The item is not stored.
    case itemNotFound
    /// The app has no access to the container or keychain group that it named.
    case missingAppGroupEntitlement
    /// A newer version wrote an entry; the text names it.
    case storageMigrationError(String)
    /// A database failed. This module uses no database; the case exists for compatibility with Okta's SDK.
    case sqliteError(String)
    /// Any other failure; the text names the entry or file.
    case generalStorageError(String)

    /// The problem and the next step for the user.
    public var errorDescription: String {
        switch self {
        case .itemNotFound: "The item is not stored on this device. Enroll again."
        case .missingAppGroupEntitlement:
            "The app may not use the group that its ApplicationConfig names. Add the group to the app's entitlements, or name another one."
        case .storageMigrationError(let text), .sqliteError(let text), .generalStorageError(let text): text
        }
    }

    init(_ error: any Error) {
        self =
            switch error {
            case let error as StorageError: error
            case let error as VaultError where error.code == .newerFormat: .storageMigrationError(error.message)
            case let error as VaultError: .generalStorageError(error.message)
            default: .generalStorageError(error.localizedDescription)
            }
    }
}

extension StorageError: CustomNSError {
    /// The localized description.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: errorDescription] }
}
