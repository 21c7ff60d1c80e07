internal import AuthFoundation
internal import Foundation

#if canImport(Security)
internal import Security
#endif

/// The operations of Apple's Keychain and Secure Enclave on P-256 keys. `SystemDeviceKeychain` performs them with the Security framework.
/// The rules of ``KeychainDeviceKeyStore`` are written against this protocol, so that tests on every platform can use a double. Safe from
/// any thread.
protocol DeviceKeychain: Sendable {
    /// Whether the device has a Secure Enclave, which then holds the private keys.
    var hasEnclave: Bool { get }

    /// The method of the device's biometrics; ``UserVerification/Method/none`` if the user has set up none.
    var biometry: UserVerification.Method { get }

    /// Creates a key, which is available after the first unlock and never leaves the device. Throws the system's `NSError`.
    /// - Parameters:
    ///   - tag: The name under which the Keychain stores the key; `nil` for a key that is not stored.
    ///   - group: The keychain group of a stored key; `nil` for the app's own.
    ///   - flags: The conditions under which the key signs.
    func makeKey(tag: String?, group: String?, flags: SecAccessControlCreateFlags) throws -> any DeviceKeychainKey

    /// Returns a stored key, from any group that the app can use.
    func find(_ tag: String, prompt: KeychainPrompt) -> Result<any DeviceKeychainKey, KeychainStatus>

    /// Deletes a stored key from every group that the app can use.
    func delete(_ tag: String) -> OSStatus
}

/// A private key in the Keychain. It belongs to one function call, because it keeps a connection to the Secure Enclave.
protocol DeviceKeychainKey {
    /// The public part; `nil` if the system does not have it.
    var publicKey: DevicePublicKey? { get }

    /// Signs a message with ECDSA on SHA-256, after it has verified the user if the key requires that. Returns r and s, 64 bytes. Throws
    /// the system's `NSError`.
    func signature(for message: Data) throws -> Data
}

/// The prompt that the user sees when a key signs that requires user verification.
enum KeychainPrompt: Sendable, Equatable {
    /// The system shows its own text.
    case standard
    /// The system shows this text.
    case reason(String)
    /// The user is not asked, and the signature fails.
    case forbidden
}
