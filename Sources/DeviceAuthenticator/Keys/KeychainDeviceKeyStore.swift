#if canImport(Security)
internal import Crypto
internal import Dispatch
public import Foundation
internal import Security

#if canImport(LocalAuthentication) && !os(tvOS) && !os(watchOS)
internal import LocalAuthentication
#endif

/// A store of private keys in the Secure Enclave, or in the Keychain of a device without a Secure Enclave; the default on Apple platforms.
/// Safe from any thread. The system itself verifies the user when a guarded key signs; a ``UserVerifier`` is not used. Keys are available
/// after the first unlock since the device started, and never leave the device.
public struct KeychainDeviceKeyStore: DeviceKeyStore {
    private let group: String?

    /// Creates a store.
    /// - Parameter group: The keychain group that the app and its extensions share; `nil` for the app's own.
    public init(group: String?) {
        self.group = group
    }

    /// Whether the device has a Secure Enclave.
    public var isHardwareBacked: Bool { SecureEnclave.isAvailable }

    /// Creates a key that signs without user verification.
    public func makeKey(tag: String) throws -> DevicePublicKey { try makeKey(tag: tag, flags: []) }

    /// Creates a key that signs only after the system has verified the user. Does not verify the user yet.
    public func makeGuardedKey(tag: String, request: UserVerificationRequest, verifier: (any UserVerifier)?) async throws -> DevicePublicKey
    {
        try makeKey(tag: tag, flags: request.accessControlFlags)
    }

    private func makeKey(tag: String, flags: SecAccessControlCreateFlags) throws -> DevicePublicKey {
        var flags = flags
        if isHardwareBacked { flags.insert(.privateKeyUsage) }
        var failure: Unmanaged<CFError>?
        guard
            let access = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, flags, &failure)
        else { throw Self.failed("The access control could not be made", failure) }
        var privateAttributes: [String: Any] = [
            kSecAttrIsPermanent as String: true, kSecAttrApplicationTag as String: Data(tag.utf8), kSecAttrAccessControl as String: access,
        ]
        privateAttributes[kSecAttrAccessGroup as String] = group
        var attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
            kSecPrivateKeyAttrs as String: privateAttributes,
        ]
        if isHardwareBacked { attributes[kSecAttrTokenID as String] = kSecAttrTokenIDSecureEnclave }
        #if os(macOS)
        attributes[kSecUseDataProtectionKeychain as String] = true
        #endif
        guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &failure) else {
            throw Self.failed("The key could not be made", failure)
        }
        guard let publicKey = Self.publicKey(of: key) else { throw SecurityError.jwkError("The new key has no public part.") }
        return publicKey
    }

    private static func failed(_ text: String, _ failure: Unmanaged<CFError>?) -> SecurityError {
        let error = failure?.takeRetainedValue()
        return .keyGenFailed(
            error.map { OSStatus(truncatingIfNeeded: CFErrorGetCode($0)) } ?? errSecInternalError,
            "\(text): \(error.map { ($0 as any Error).localizedDescription } ?? "the system did not say why")")
    }

    /// Returns the public key without user verification; `nil` if the key does not exist or the system has invalidated it.
    public func publicKey(tag: String) throws -> DevicePublicKey? {
        #if canImport(LocalAuthentication) && !os(tvOS) && !os(watchOS)
        let context = LAContext()
        context.interactionNotAllowed = true
        guard let key = try find(tag, context: context) else { return nil }
        // An invalidated key can be found but cannot sign. Any other error, such as a missing user verification, means that the key is
        // valid.
        do {
            _ = try Self.signature(of: Data(), with: key)
        } catch SecurityError.keyCorrupted {
            return nil
        } catch {}
        #else
        guard let key = try find(tag, context: nil) else { return nil }
        #endif
        return Self.publicKey(of: key)
    }

    /// Signs with a key that needs no user verification.
    public func sign(_ message: Data, tag: String) throws -> Data {
        guard let key = try find(tag, context: nil) else { throw SecurityError.keyCorrupted(DeviceKeyError.missing(tag: tag)) }
        return try Self.signature(of: message, with: key)
    }

    /// Signs with a guarded key; the system verifies the user.
    public func sign(
        guardedTag tag: String, request: UserVerificationRequest, verifier: (any UserVerifier)?,
        message: @Sendable (UserVerification.Method) throws -> Data
    ) async throws -> (message: Data, signature: Data) {
        #if canImport(LocalAuthentication) && !os(tvOS) && !os(watchOS)
        let message = try message(request.accessControlFlags.provenMethod(biometry: Self.biometry))
        #else
        let message = try message(request.accessControlFlags.provenMethod(biometry: .none))
        #endif
        // The system's call blocks until the user has responded, so it runs on a thread that may block.
        let signature = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Data, any Error>) in
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(with: Result { try sign(message, tag: tag, reason: request.reason) })
            }
        }
        return (message, signature)
    }

    private func sign(_ message: Data, tag: String, reason: String) throws -> Data {
        #if canImport(LocalAuthentication) && !os(tvOS) && !os(watchOS)
        let context = LAContext()
        context.localizedReason = reason
        #else
        let context: Any? = nil
        #endif
        guard let key = try find(tag, context: context) else { throw SecurityError.keyCorrupted(DeviceKeyError.missing(tag: tag)) }
        return try Self.signature(of: message, with: key)
    }

    /// Deletes a key permanently.
    public func deleteKey(tag: String) throws {
        let status = SecItemDelete(query(tag) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else {
            throw StorageError.generalStorageError("The key \(tag) can't be deleted from the Keychain (\(status)).")
        }
    }

    #if canImport(LocalAuthentication) && !os(tvOS) && !os(watchOS)
    private static var biometry: UserVerification.Method {
        let context = LAContext()
        guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil) else { return .none }
        switch context.biometryType {
        case .faceID: return .face
        case .touchID: return .fingerprint
        default: return .none
        }
    }
    #endif

    private func query(_ tag: String) -> [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassKey, kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrApplicationTag as String: Data(tag.utf8),
        ]
        query[kSecAttrAccessGroup as String] = group
        #if os(macOS)
        query[kSecUseDataProtectionKeychain as String] = true
        #endif
        return query
    }

    private func find(_ tag: String, context: Any?) throws -> SecKey? {
        var query = query(tag)
        query[kSecReturnRef as String] = true
        query[kSecUseAuthenticationContext as String] = context
        var item: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &item)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let item, CFGetTypeID(item) == SecKeyGetTypeID() else {
            throw StorageError.generalStorageError("The key \(tag) can't be read from the Keychain (\(status)).")
        }
        // The type is checked above because a Core Foundation type cannot be cast conditionally.
        return unsafeDowncast(item, to: SecKey.self)
    }

    private static func publicKey(of key: SecKey) -> DevicePublicKey? {
        guard let publicKey = SecKeyCopyPublicKey(key), let point = SecKeyCopyExternalRepresentation(publicKey, nil) as Data?,
            point.count == 65
        else { return nil }
        return DevicePublicKey(rawRepresentation: point.dropFirst())
    }

    private static func signature(of message: Data, with key: SecKey) throws -> Data {
        var failure: Unmanaged<CFError>?
        guard let encoded = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, &failure) as Data? else {
            throw SecurityError.create(with: failure)
        }
        return try P256.Signing.ECDSASignature(derRepresentation: encoded).rawRepresentation
    }
}
#endif
