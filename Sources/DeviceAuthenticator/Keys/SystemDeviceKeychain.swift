#if canImport(Security)
internal import AuthFoundation
internal import Crypto
internal import Foundation
internal import Security

#if canImport(LocalAuthentication) && !os(tvOS) && !os(watchOS)
internal import LocalAuthentication
#endif

/// The Keychain and the Secure Enclave of the device.
struct SystemDeviceKeychain: DeviceKeychain {
    private struct Key: DeviceKeychainKey {
        let key: SecKey

        var publicKey: DevicePublicKey? {
            guard let publicKey = SecKeyCopyPublicKey(key), let point = SecKeyCopyExternalRepresentation(publicKey, nil) as Data?,
                point.count == 65
            else { return nil }
            return DevicePublicKey(rawRepresentation: point.dropFirst())
        }

        func signature(for message: Data) throws -> Data {
            var failure: Unmanaged<CFError>?
            guard let encoded = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, &failure) as Data? else {
                throw SystemDeviceKeychain.error(failure)
            }
            return try P256.Signing.ECDSASignature(derRepresentation: encoded).rawRepresentation
        }
    }

    var hasEnclave: Bool { SecureEnclave.isAvailable }

    var biometry: UserVerification.Method {
        #if canImport(LocalAuthentication) && !os(tvOS) && !os(watchOS)
        let context = LAContext()
        guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil) else { return .none }
        switch context.biometryType {
        case .faceID: return .face
        case .touchID: return .fingerprint
        default: return .none
        }
        #else
        return .none
        #endif
    }

    func makeKey(tag: String?, group: String?, flags: SecAccessControlCreateFlags) throws -> any DeviceKeychainKey {
        var failure: Unmanaged<CFError>?
        guard
            let access = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, flags, &failure)
        else { throw Self.error(failure) }
        var privateAttributes: [String: Any] = [kSecAttrIsPermanent as String: tag != nil, kSecAttrAccessControl as String: access]
        privateAttributes[kSecAttrApplicationTag as String] = tag.map { Data($0.utf8) }
        privateAttributes[kSecAttrAccessGroup as String] = group
        var attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
            kSecPrivateKeyAttrs as String: privateAttributes,
        ]
        if hasEnclave { attributes[kSecAttrTokenID as String] = kSecAttrTokenIDSecureEnclave }
        #if os(macOS)
        attributes[kSecUseDataProtectionKeychain as String] = true
        #endif
        guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &failure) else { throw Self.error(failure) }
        return Key(key: key)
    }

    func find(_ tag: String, prompt: KeychainPrompt) -> Result<any DeviceKeychainKey, KeychainStatus> {
        var query = query(tag)
        query[kSecReturnRef as String] = true
        query[kSecUseAuthenticationContext as String] = Self.context(prompt)
        var item: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &item)
        guard status == errSecSuccess else { return .failure(KeychainStatus(status)) }
        guard let item, CFGetTypeID(item) == SecKeyGetTypeID() else { return .failure(KeychainStatus(errSecDecode)) }
        // The type is checked above because a Core Foundation type cannot be cast conditionally.
        return .success(Key(key: unsafeDowncast(item, to: SecKey.self)))
    }

    func delete(_ tag: String) -> OSStatus { SecItemDelete(query(tag) as CFDictionary) }

    /// The condition names no group, so that it matches in every group of the app. A tag is a UUID.
    private func query(_ tag: String) -> [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassKey, kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrApplicationTag as String: Data(tag.utf8),
        ]
        #if os(macOS)
        query[kSecUseDataProtectionKeychain as String] = true
        #endif
        return query
    }

    private static func context(_ prompt: KeychainPrompt) -> Any? {
        #if canImport(LocalAuthentication) && !os(tvOS) && !os(watchOS)
        switch prompt {
        case .standard: return nil
        case .reason(let text):
            let context = LAContext()
            context.localizedReason = text
            return context
        case .forbidden:
            let context = LAContext()
            context.interactionNotAllowed = true
            return context
        }
        #else
        return nil
        #endif
    }

    private static func error(_ failure: Unmanaged<CFError>?) -> NSError {
        guard let error = failure?.takeRetainedValue() else {
            return NSError(
                domain: "NSOSStatusErrorDomain", code: Int(errSecInternalError),
                userInfo: [NSLocalizedDescriptionKey: "The system did not say why."])
        }
        return error as any Error as NSError
    }
}
#endif
