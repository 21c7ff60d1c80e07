internal import AuthFoundation
internal import Dispatch
public import Foundation

#if canImport(Security)
internal import Security
#endif

/// A store of private keys in the Secure Enclave, or in the Keychain of a device without a Secure Enclave (simulators, old Macs); the
/// default on Apple platforms. Apps create it on Apple's systems only. Safe from any thread. The system itself verifies the user when a
/// guarded key signs; a ``UserVerifier`` is not used.
///
/// Without a Secure Enclave, the Keychain stores and encrypts the private keys, and the server is told that software holds them.
///
/// Keys are available after the first unlock since the device started. Before, each call throws a ``StorageError``, and no key is reported
/// as missing. Keys never leave the device. After a restore to another device, a key is missing, or it is present and
/// cannot sign; both are ``SecurityError/keyCorrupted(_:)``, and the user must enroll again. A guarded key of the current biometrics is
/// also lost when the user changes the biometrics.
public struct KeychainDeviceKeyStore: DeviceKeyStore {
    private let keychain: any DeviceKeychain
    private let group: String?

    #if canImport(Security)
    /// Creates a store.
    /// - Parameter group: The keychain group that the app and its extensions share; `nil` for the app's own. Keys that were created with
    ///   another group stay usable while the app has access to that group.
    public init(group: String?) {
        self.init(SystemDeviceKeychain(), group: group)
    }
    #endif

    init(_ keychain: any DeviceKeychain, group: String?) {
        self.keychain = keychain
        self.group = group
    }

    /// Whether the device has a Secure Enclave.
    public var isHardwareBacked: Bool { keychain.hasEnclave }

    /// Creates a key that signs without user verification.
    public func makeKey(tag: String) throws -> DevicePublicKey { try makeKey(tag: tag, flags: []) }

    /// Creates a key that signs only after the system has verified the user. Does not verify the user yet.
    public func makeGuardedKey(tag: String, request: UserVerificationRequest, verifier: (any UserVerifier)?) async throws -> DevicePublicKey
    {
        try makeKey(tag: tag, flags: request.accessControlFlags)
    }

    private func makeKey(tag: String, flags: SecAccessControlCreateFlags) throws -> DevicePublicKey {
        let key: any DeviceKeychainKey
        do {
            key = try keychain.makeKey(tag: tag, group: group, flags: flags.union(usage))
        } catch let error as NSError {
            switch OSStatus(truncatingIfNeeded: error.code) {
            case KeychainStatus.interactionNotAllowed: throw StorageError.deviceLocked
            case KeychainStatus.missingEntitlement: throw StorageError.missingAppGroupEntitlement
            case let code: throw SecurityError.keyGenFailed(code, "The key could not be made: \(error.localizedDescription)")
            }
        }
        guard let publicKey = key.publicKey else {
            // Nothing refers to the key.
            _ = keychain.delete(tag)
            throw SecurityError.jwkError("The new key has no public part.")
        }
        return publicKey
    }

    /// The flag that the Secure Enclave requires.
    private var usage: SecAccessControlCreateFlags { keychain.hasEnclave ? .privateKeyUsage : [] }

    /// Returns the public key without user verification; `nil` if the key does not exist or the system has invalidated it.
    public func publicKey(tag: String) throws -> DevicePublicKey? {
        guard let key = try find(tag, prompt: .forbidden) else { return nil }
        // An invalidated key can be found but cannot sign. Any other error, such as a missing user verification, means that the key is
        // valid.
        do { _ = try key.signature(for: Self.trial) } catch {
            if case .keyCorrupted = SecurityError(signing: error as NSError) { return nil }
        }
        return key.publicKey
    }

    /// Signs with a key that needs no user verification.
    public func sign(_ message: Data, tag: String) throws -> Data {
        guard let key = try find(tag, prompt: .standard) else { throw SecurityError.keyCorrupted(DeviceKeyError.missing(tag: tag)) }
        do { return try key.signature(for: message) } catch { throw reason(for: error as NSError, tag: tag) }
    }

    /// Returns the error to report after a key without user verification could not sign. Apple documents no codes for a key of another
    /// Secure Enclave. Therefore a new key tests the enclave: if it works, the failed key is lost; otherwise the error can be temporary.
    private func reason(for error: NSError, tag: String) -> any Error {
        if error.isLockedDevice { return StorageError.deviceLocked }
        if let other = try? keychain.makeKey(tag: nil, group: nil, flags: usage), (try? other.signature(for: Self.trial)) != nil {
            return SecurityError.keyCorrupted(DeviceKeyError.damaged(tag: tag))
        }
        return SecurityError.generalEncryptionError(OSStatus(truncatingIfNeeded: error.code), error, "The signature failed.")
    }

    /// A message whose signature shows that a key works.
    private static let trial = Data("trial".utf8)

    /// Signs with a guarded key; the system verifies the user.
    public func sign(
        guardedTag tag: String, request: UserVerificationRequest, verifier: (any UserVerifier)?,
        message: @Sendable (UserVerification.Method) throws -> Data
    ) async throws -> (message: Data, signature: Data) {
        let message = try message(request.accessControlFlags.provenMethod(biometry: keychain.biometry))
        // The system's call blocks until the user has responded, so it runs on a thread that may block.
        let signature = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Data, any Error>) in
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(with: Result { try signGuarded(message, tag: tag, reason: request.reason) })
            }
        }
        return (message, signature)
    }

    private func signGuarded(_ message: Data, tag: String, reason: String) throws -> Data {
        guard let key = try find(tag, prompt: .reason(reason)) else {
            throw SecurityError.keyCorrupted(DeviceKeyError.missing(tag: tag))
        }
        do { return try key.signature(for: message) } catch {
            let failure = SecurityError(signing: error as NSError)
            guard case .keyCorrupted = failure else { throw failure }
            throw SecurityError.keyCorrupted(DeviceKeyError.damaged(tag: tag))
        }
    }

    /// Deletes a key permanently.
    public func deleteKey(tag: String) throws {
        let status = keychain.delete(tag)
        guard status != KeychainStatus.success, status != KeychainStatus.itemNotFound else { return }
        throw Self.failure(status, "The key \(tag) can't be deleted from the Keychain")
    }

    private func find(_ tag: String, prompt: KeychainPrompt) throws -> (any DeviceKeychainKey)? {
        switch keychain.find(tag, prompt: prompt) {
        case .success(let key): return key
        case .failure(let status) where status.code == KeychainStatus.itemNotFound: return nil
        case .failure(let status): throw Self.failure(status.code, "The key \(tag) can't be read from the Keychain")
        }
    }

    private static func failure(_ code: OSStatus, _ text: String) -> StorageError {
        switch code {
        case KeychainStatus.interactionNotAllowed: .deviceLocked
        case KeychainStatus.missingEntitlement: .missingAppGroupEntitlement
        default: .generalStorageError("\(text) (\(code)).")
        }
    }
}

extension NSError {
    /// Whether the device has not been unlocked since it started.
    fileprivate var isLockedDevice: Bool {
        domain == "NSOSStatusErrorDomain" && code == Int(KeychainStatus.interactionNotAllowed)
    }
}
