#if canImport(Security) && canImport(CryptoKit)
import CryptoKit
import Foundation
import Security

/// A key storage in the Secure Enclave, or in the Keychain of a device without a Secure Enclave. The default on Apple platforms. Keys are
/// available after the first unlock since startup. They never leave the device, so a restore to another device loses them. Safe from any
/// thread.
public struct KeychainDPoPKeyStorage: DPoPKeyStorage {
    private static let service = "com.okta.authfoundation.dpop"
    private static let enclave = "enclave"
    private static let software = "software"

    private let accessGroup: String?

    /// Creates a storage.
    /// - Parameter accessGroup: The Keychain group that the app and its extensions share, or `nil` for the app's own.
    public init(accessGroup: String? = nil) {
        self.accessGroup = accessGroup
    }

    /// Returns the key of a client, or `nil` if there is none.
    /// - Throws: ``KeychainError``, ``DPoPError``.
    public func key(named name: String) throws -> DPoPKey? {
        do {
            return try key(in: Keychain.Search(account: name, service: Self.service, accessGroup: accessGroup).get())
        } catch KeychainError.notFound {
            return nil
        }
    }

    /// Returns the key of a client. Creates it if there is none, or if the stored key can never be used again, such as a key of another
    /// device.
    /// - Throws: ``KeychainError``, ``DPoPError``.
    public func keyMakingOne(named name: String) throws -> DPoPKey {
        do {
            if let known = try key(named: name) { return known }
        } catch let error as DPoPError where error.isFinal {
            try removeKey(named: name)
        }
        let (kind, value) = try Self.makeKey()
        let item = Keychain.Item(
            account: name, service: Self.service, accessibility: .afterFirstUnlockThisDeviceOnly, accessGroup: accessGroup,
            synchronizable: false, generic: Data(kind.utf8), value: value)
        let status = SecItemAdd(item.attributes as CFDictionary, nil)
        // If an extension stored a key first, use that key.
        guard status == errSecSuccess || status == errSecDuplicateItem, let stored = try key(named: name) else {
            throw KeychainError.cannotSave(code: status)
        }
        return stored
    }

    /// Deletes the key of a client.
    /// - Throws: ``KeychainError``.
    public func removeKey(named name: String) throws {
        do {
            try Keychain.Search(account: name, service: Self.service, accessGroup: accessGroup).delete()
        } catch KeychainError.notFound {
            return
        }
    }

    private static func makeKey() throws -> (kind: String, value: Data) {
        guard SecureEnclave.isAvailable else { return (software, P256.Signing.PrivateKey().rawRepresentation) }
        var failure: Unmanaged<CFError>?
        guard
            let control = SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, .privateKeyUsage, &failure)
        else {
            throw KeychainError.accessControlInvalid(code: errSecParam, description: failure?.takeRetainedValue().localizedDescription)
        }
        return (enclave, try SecureEnclave.P256.Signing.PrivateKey(accessControl: control).dataRepresentation)
    }

    private func key(in item: Keychain.Item) throws -> DPoPKey {
        do {
            if item.generic == Data(Self.enclave.utf8) {
                let key = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: item.value)
                return try Self.key(key.publicKey) { try Array(key.signature(for: $0).rawRepresentation) }
            }
            let key = try P256.Signing.PrivateKey(rawRepresentation: item.value)
            return try Self.key(key.publicKey) { try Array(key.signature(for: $0).rawRepresentation) }
        } catch let error as CryptoKitError {
            // A key from the Secure Enclave of another device can be restored but not used.
            throw DPoPError(.keyLost, DPoPError.keyLost.message, underlying: error)
        }
    }

    private static func key(_ publicKey: P256.Signing.PublicKey, sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]) throws -> DPoPKey {
        let point = Array(publicKey.rawRepresentation)
        return try DPoPKey(x: Array(point.prefix(32)), y: Array(point.suffix(32)), sign: sign)
    }
}
#endif
