import Crypto
public import Foundation
public import JOSE

/// The source of a vault's key: loads or creates the key, and checks that the vault is encrypted with it.
struct VaultKeySource: Sendable {
    static let headerFile = "vault.json"
    private static let headerText = Data("countersign vault".utf8)

    let folder: VaultFolder
    /// The key from the app, or `nil` for a key file beside the entries.
    let given: VaultKey?

    /// The versions of the key file and the header file. A change reveals that another process recreated the vault.
    struct Fingerprint: Equatable {
        private let key: VaultFolder.Fingerprint?
        private let header: VaultFolder.Fingerprint?

        init(_ source: VaultKeySource) {
            key = source.given == nil ? source.folder.fingerprint(of: VaultKey.fileName) : nil
            header = source.folder.fingerprint(of: VaultKeySource.headerFile)
        }
    }

    /// Returns the key; `nil` if neither a key nor a vault exists. Throws if the vault is encrypted with another key, or if its key is
    /// missing.
    func key() throws -> VaultKey? {
        guard let key = try given ?? VaultKey.stored(in: folder) else {
            guard !folder.exists(Self.headerFile) else { throw keyFileIsGone }
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

    var keyFileIsGone: VaultError {
        VaultError(
            .keyMissing, entry: VaultKey.fileName,
            "The credentials in \(folder.path) are encrypted and their key file is gone. Restore it, or delete the folder and sign in again."
        )
    }

    /// Returns the key of the vault. Creates the key and the vault if needed. The caller must hold the lock.
    func keyMakingVault() throws -> VaultKey {
        let key = try key() ?? VaultKey.makeStored(in: folder)
        if !folder.exists(Self.headerFile) {
            var header = VaultRecord(kind: .vault, id: Self.headerFile)
            try header.seal(Self.headerText, as: .check, with: key)
            try folder.write(header.encoded(), to: Self.headerFile)
        }
        return key
    }
}

extension VaultKey {
    /// The name of the key file, which has mode 0600 and contains the key in Base64.
    package static let fileName = "key"

    /// Reads the key file of a folder. Returns `nil` if there is none.
    package static func stored(in folder: VaultFolder) throws -> VaultKey? {
        guard let (text, _) = try folder.read(fileName, isSecret: true) else { return nil }
        guard let bytes = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
            throw VaultError(
                .invalidKey, entry: fileName,
                "\(folder.path(of: fileName)) holds no key. Restore it, or delete the folder and sign in again.")
        }
        return try VaultKey(rawValue: bytes)
    }

    /// Generates a key and writes the key file of a folder. The caller must hold the folder's lock and have found no key.
    package static func makeStored(in folder: VaultFolder) throws -> VaultKey {
        let key = VaultKey.generate()
        try folder.write(key.rawValue.base64EncodedData() + Data("\n".utf8), to: fileName)
        return key
    }
}
/// The key of an encrypted vault: 32 bytes. Descriptions never contain the key.
public struct VaultKey: Sendable, Redacted {
    let symmetricKey: SymmetricKey

    /// Generates a random key.
    public static func generate() -> VaultKey {
        VaultKey(symmetricKey: SymmetricKey(size: .bits256))
    }

    private init(symmetricKey: SymmetricKey) {
        self.symmetricKey = symmetricKey
    }

    /// Creates a key that the app stores elsewhere, such as in a hardware store or a secret manager.
    /// - Parameter rawValue: 32 random bytes, not a password.
    /// - Throws: ``VaultError`` with ``VaultError/Code/invalidKey`` for any other length.
    public init(rawValue: Data) throws {
        guard rawValue.count == 32 else {
            throw VaultError(
                .invalidKey, entry: "key", "A vault key has 32 bytes, not \(rawValue.count). Give the key that the vault was made with.")
        }
        symmetricKey = SymmetricKey(data: rawValue)
    }

    /// The 32 bytes. Protect them like the tokens.
    public var rawValue: Data { symmetricKey.withUnsafeBytes { Data($0) } }

    /// A description without the key.
    public var description: String { "VaultKey(…)" }
}
