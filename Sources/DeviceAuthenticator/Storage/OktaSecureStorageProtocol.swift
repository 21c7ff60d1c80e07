#if canImport(Security)
public import Foundation

/// A storage of secrets, by keys, for source compatibility with apps that implement the protocol of Okta's SDK. This module uses
/// ``DeviceKeyStore`` instead.
public protocol OktaSecureStorageProtocol {
    /// Stores data, in place of data with the same key.
    /// - Parameters:
    ///   - behindBiometrics: Whether the user must authenticate before the data can be read.
    ///   - accessGroup: The access group of the Keychain; `nil` for the app's own.
    ///   - accessibility: A value of `kSecAttrAccessible`, which says when the data can be read; `nil` for the storage's default.
    func set(data: Data, forKey key: String, behindBiometrics: Bool, accessGroup: String?, accessibility: CFString?) throws

    /// Returns the data of a key.
    /// - Parameters:
    ///   - prompt: The text of the prompt in which the user authenticates; `nil` for the system's.
    ///   - accessGroup: The access group of the Keychain; `nil` for the app's own.
    func getData(key: String, biometricPrompt prompt: String?, accessGroup: String?) throws -> Data
}
#endif
