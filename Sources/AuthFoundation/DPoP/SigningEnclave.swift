package import Foundation

#if canImport(Security) && canImport(CryptoKit)
import CryptoKit
import Security
#endif

/// The operations of a Secure Enclave on P-256 keys. ``DeviceEnclave`` performs them with CryptoKit; tests on every platform use a double.
/// Safe from any thread.
package protocol SigningEnclave: Sendable {
    /// Creates a key. The enclave does not keep the key: it exists as long as its sealed form does.
    func makeKey() throws -> any EnclaveKey

    /// Returns the key with this sealed form. A sealed form of another enclave causes an error, here or in the first signature.
    func key(from sealed: Data) throws -> any EnclaveKey
}

/// A private key that only one Secure Enclave can use. Safe from any thread.
package protocol EnclaveKey: Sendable {
    /// The private key, encrypted by the enclave.
    var sealed: Data { get }

    /// The coordinates x and y of the public point, 64 bytes.
    var publicPoint: [UInt8] { get }

    /// Signs a message with ECDSA on SHA-256. Returns r and s, 64 bytes.
    func signature(for message: [UInt8]) throws -> [UInt8]
}

#if canImport(Security) && canImport(CryptoKit)
/// The Secure Enclave of the device.
struct DeviceEnclave: SigningEnclave {
    /// The enclave, or `nil` on a device without one: simulators, and Macs with neither a T2 chip nor Apple silicon.
    static var available: (any SigningEnclave)? { SecureEnclave.isAvailable ? DeviceEnclave() : nil }

    private struct Key: EnclaveKey {
        let key: SecureEnclave.P256.Signing.PrivateKey

        var sealed: Data { key.dataRepresentation }
        var publicPoint: [UInt8] { Array(key.publicKey.rawRepresentation) }
        func signature(for message: [UInt8]) throws -> [UInt8] { try Array(key.signature(for: message).rawRepresentation) }
    }

    func makeKey() throws -> any EnclaveKey {
        var failure: Unmanaged<CFError>?
        guard
            let control = SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, .privateKeyUsage, &failure)
        else {
            throw KeychainError.accessControlInvalid(code: errSecParam, description: failure?.takeRetainedValue().localizedDescription)
        }
        return Key(key: try SecureEnclave.P256.Signing.PrivateKey(accessControl: control))
    }

    func key(from sealed: Data) throws -> any EnclaveKey {
        Key(key: try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: sealed))
    }
}
#endif
