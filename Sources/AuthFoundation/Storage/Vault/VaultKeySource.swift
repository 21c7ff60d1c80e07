import Crypto
public import Foundation
public import JOSE

/// Where the key of a vault comes from, and whether it is the right one.
struct VaultKeySource: Sendable {
    static let keyFile = "key"
    static let headerFile = "vault.json"
    private static let headerText = Data("countersign vault".utf8)

    let folder: VaultFolder
    /// The key that the app gave; nil if it lies in a file beside the entries.
    let given: VaultKey?

    /// What changes when the vault was made anew by somebody else.
    struct Fingerprint: Equatable {
        private let key: VaultFolder.Fingerprint?
        private let header: VaultFolder.Fingerprint?

        init(_ source: VaultKeySource) {
            key = source.given == nil ? source.folder.fingerprint(of: VaultKeySource.keyFile) : nil
            header = source.folder.fingerprint(of: VaultKeySource.headerFile)
        }
    }

    /// The key of the vault as it is.
    ///
    /// - Returns: nil if there is no vault yet.
    func key() throws -> VaultKey? {
        guard let key = try given ?? storedKey() else {
            guard !folder.exists(Self.headerFile) else {
                throw VaultError(
                    .keyMissing, entry: Self.keyFile,
                    "The credentials in \(folder.path) are encrypted and their key file is gone. Restore it, or delete the folder and sign in again."
                )
            }
            return nil
        }
        if let (data, _) = try folder.read(Self.headerFile) {
            let header = try VaultRecord(decoding: data, kind: .vault, id: Self.headerFile)
            guard (try? header.open(.check, with: key)) == Self.headerText else {
                throw VaultError(
                    .wrongKey, entry: Self.headerFile,
                    "The credentials in \(folder.path) were encrypted with another key. Give that key; nothing was changed.")
            }
        }
        return key
    }

    /// The key of the vault, which is made if there is none. Only for who holds the lock.
    func keyMakingVault() throws -> VaultKey {
        let key = try key() ?? makeKey()
        if !folder.exists(Self.headerFile) {
            var header = VaultRecord(kind: .vault, id: Self.headerFile)
            try header.seal(Self.headerText, as: .check, with: key)
            try folder.write(header.encoded(), to: Self.headerFile)
        }
        return key
    }

    private func storedKey() throws -> VaultKey? {
        guard let (text, _) = try folder.read(Self.keyFile, isSecret: true) else { return nil }
        guard let bytes = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
            throw VaultError(
                .invalidKey, entry: Self.keyFile,
                "\(folder.path(of: Self.keyFile)) holds no key. Restore it, or delete the folder and sign in again.")
        }
        return try VaultKey(rawValue: bytes)
    }

    private func makeKey() throws -> VaultKey {
        let key = VaultKey.generate()
        try folder.write(key.rawValue.base64EncodedData() + Data("\n".utf8), to: Self.keyFile)
        return key
    }
}

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
