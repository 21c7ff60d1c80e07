import Crypto
public import Foundation
public import JOSE

/// The key of an encrypted vault: 32 bytes that never show in a description.
///
/// A `Sendable` value.
public struct VaultKey: Sendable, Redacted {
    let symmetricKey: SymmetricKey

    /// A new random key.
    ///
    /// - Returns: The key.
    public static func generate() -> VaultKey {
        VaultKey(symmetricKey: SymmetricKey(size: .bits256))
    }

    private init(symmetricKey: SymmetricKey) {
        self.symmetricKey = symmetricKey
    }

    /// A key that the app keeps elsewhere, such as in a hardware store or a secret manager.
    ///
    /// - Parameter rawValue: 32 random bytes, not a password.
    /// - Throws: ``VaultError`` with ``VaultError/Code/invalidKey`` for any other length.
    public init(rawValue: Data) throws {
        guard rawValue.count == 32 else {
            throw VaultError(
                .invalidKey, entry: "key", "A vault key has 32 bytes, not \(rawValue.count). Give the key that the vault was made with.")
        }
        symmetricKey = SymmetricKey(data: rawValue)
    }

    /// The 32 bytes: as secret as the tokens themselves.
    public var rawValue: Data { symmetricKey.withUnsafeBytes { Data($0) } }

    /// Shows nothing of the key.
    public var description: String { "VaultKey(…)" }
}
