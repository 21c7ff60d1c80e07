package import AuthFoundation
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

extension SecurityError: ClientError {
    package var userText: ErrorText {
        switch self {
        case .failedToSignPayload, .generalEncryptionError, .dataEncryptionDecryptionError: .somethingWrong
        case .keyGenFailed, .jwkError: .notSetUp
        case .keyCorrupted: .accountDamaged
        case .localAuthenticationCancelled: .verificationCancelled
        case .localAuthenticationPasscodeNotSet: .verificationUnavailable
        case .localAuthenticationFailed: .verificationFailed
        case .jwtError(LocalFailure.expiredText): .requestExpired
        case .jwtError: .requestNotVerified
        }
    }
}

extension SecurityError: LocalizedError, CustomDebugStringConvertible {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    /// The reason and a remedy, for developers.
    public var debugDescription: String {
        switch self {
        case .failedToSignPayload(let text): "The answer could not be signed: \(text)"
        case .keyGenFailed(let code, let text): "A key could not be made (\(code)): \(text)"
        case .keyCorrupted(let error):
            technicalText(
                "The key of this enrollment is damaged or missing. Turn user verification on again, or remove the account here and enroll again.",
                [], causedBy: error)
        case .localAuthenticationCancelled: "The verification was cancelled. Try again."
        case .localAuthenticationPasscodeNotSet:
            "This device has nothing to verify you with. Set up a passcode or biometrics, or give the authenticator a user verifier."
        case .localAuthenticationFailed: "You could not be verified. Try again."
        case .generalEncryptionError(let code, let error, let text):
            technicalText("A cryptographic operation failed (\(code)): \(text)", [], causedBy: error)
        case .jwkError(let text): "The key can't be used: \(text)"
        case .jwtError(let text): "The sign-in request was refused: \(text). Ask for a new one."
        case .dataEncryptionDecryptionError(let error):
            technicalText("Stored data could not be encrypted or decrypted.", [], causedBy: error)
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
        return SecurityError(signing: error as any Error as NSError)
    }
}
#endif

extension SecurityError {
    /// Converts a signing error of the Keychain or the Secure Enclave (`LAError.Code`, `TKError.Code`, `errSec…`). A key that cannot sign
    /// only now, such as during a lockout of the biometrics or in the background, is not reported as lost.
    init(signing error: NSError) {
        self =
            switch (error.domain, error.code) {
            // Not verified, cancelled by the system or the app, locked out, or the user cannot be asked.
            case ("com.apple.LocalAuthentication", -1), ("com.apple.LocalAuthentication", -4), ("com.apple.LocalAuthentication", -8),
                ("com.apple.LocalAuthentication", -9), ("com.apple.LocalAuthentication", -1004), ("CryptoTokenKit", -5),
                ("CryptoTokenKit", -9), ("NSOSStatusErrorDomain", -25_293), ("NSOSStatusErrorDomain", -25_308):
                .localAuthenticationFailed(error)
            case ("com.apple.LocalAuthentication", -2), ("CryptoTokenKit", -4), ("NSOSStatusErrorDomain", -128):
                .localAuthenticationCancelled(error)
            // No passcode, no biometrics, or none set up.
            case ("com.apple.LocalAuthentication", -5), ("com.apple.LocalAuthentication", -6), ("com.apple.LocalAuthentication", -7):
                .localAuthenticationPasscodeNotSet(error)
            // The key's data is invalid, or there is no such key.
            case ("CryptoTokenKit", -3), ("CryptoTokenKit", -6), ("NSOSStatusErrorDomain", -25_300): .keyCorrupted(error)
            default: .generalEncryptionError(OSStatus(truncatingIfNeeded: error.code), error, "The signature failed.")
            }
    }
}

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

    /// A sentence for the user, in the user's language.
    public var errorDescription: String { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    /// The device has not been unlocked since it started, so that the Keychain cannot be read.
    static let deviceLocked = StorageError.generalStorageError(LocalFailure.deviceLocked)

    init(_ error: any Error) {
        self =
            switch error {
            case let error as KeychainError where error.isLocked: .deviceLocked
            case let error as StorageError: error
            case let error as VaultError where error.code == .newerFormat: .storageMigrationError(error.message)
            case let error as VaultError: .generalStorageError(error.message)
            default: .generalStorageError(technicalText(of: error))
            }
    }
}

extension StorageError: ClientError {
    package var userText: ErrorText {
        switch self {
        case .itemNotFound:
            ErrorText(
                "This account is not set up on this device.", de: "Dieses Konto ist auf diesem Gerät nicht eingerichtet.",
                next: LocalizedText("Add the account again.", de: "Fügen Sie das Konto erneut hinzu."))
        case .missingAppGroupEntitlement: .appSetup
        case .storageMigrationError:
            ErrorText(
                "A newer version of this app saved your accounts.",
                de: "Ihre Konten wurden von einer neueren Version dieser App gespeichert.",
                next: .updateApp)
        case .generalStorageError(LocalFailure.deviceLocked): .deviceLocked
        case .sqliteError, .generalStorageError: .dataUnreadable
        }
    }
}

extension StorageError: CustomDebugStringConvertible {
    /// The reason and a remedy, for developers. The text of a case names the entry or file.
    public var debugDescription: String {
        switch self {
        case .itemNotFound: "The item is not stored on this device. Enroll again."
        case .missingAppGroupEntitlement:
            "The app may not use the group that its ApplicationConfig names. Add the group to the app's entitlements, or name another one."
        case .storageMigrationError(let text), .sqliteError(let text), .generalStorageError(let text): text
        }
    }
}

extension StorageError: CustomNSError {
    /// The texts for the user.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: errorDescription]
        info[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion
        return info
    }
}
