internal import AuthFoundation
internal import Crypto
internal import Foundation

/// Where the key comes from that seals what an authenticator stores.
protocol StoreKeySource: Sendable {
    /// - Returns: nil if there is none yet.
    func key(in folder: VaultFolder) throws -> SymmetricKey?
    /// Makes the key. Only for who holds the lock, and finds none.
    func makeKey(in folder: VaultFolder) throws -> SymmetricKey
}

/// A file of 0600 beside what it seals: 32 bytes in base64.
struct StoreKeyFile: StoreKeySource {
    static let name = "key"

    func key(in folder: VaultFolder) throws -> SymmetricKey? {
        guard let (text, _) = try folder.read(Self.name, isSecret: true) else { return nil }
        guard let bytes = Data(base64Encoded: text, options: .ignoreUnknownCharacters), bytes.count == 32 else {
            throw StorageError.generalStorageError(
                "\(folder.path)/\(Self.name) holds no key. Restore it, or delete the folder and enroll again.")
        }
        return SymmetricKey(data: bytes)
    }

    func makeKey(in folder: VaultFolder) throws -> SymmetricKey {
        let key = SymmetricKey(size: .bits256)
        try folder.write(key.withUnsafeBytes { Data($0) }.base64EncodedData() + Data("\n".utf8), to: Self.name)
        return key
    }
}
