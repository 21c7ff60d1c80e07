public import Foundation
import JOSE

/// A key storage in encrypted files, for Linux and for command-line programs. Safe from any thread and across processes. Each key is a file
/// with mode 0600 in a folder with mode 0700, encrypted with AES-GCM under the folder's key. ``FileTokenStorage`` describes the protection
/// that this encryption gives.
public final class FileDPoPKeyStorage: DPoPKeyStorage {
    /// The folder of the keys.
    public let directory: URL

    private let folder: VaultFolder
    private let keySource: VaultKeySource
    private let lockTimeout: Duration

    /// The default folder: `dpop-keys` in ``FileTokenStorage/defaultDirectory``.
    public static var defaultDirectory: URL { FileTokenStorage.defaultDirectory.appending(path: "dpop-keys", directoryHint: .isDirectory) }

    /// Creates a storage. Files are read or created only on first use.
    /// - Parameters:
    ///   - directory: The folder, created with the first key. It must contain only files of this storage.
    ///   - key: The encryption key, if the app stores it elsewhere, or `nil` for a key file in the folder.
    ///   - lockTimeout: The maximum time to wait for a change by another process. After that, ``VaultError/Code/busy`` is thrown.
    public init(directory: URL = FileDPoPKeyStorage.defaultDirectory, key: VaultKey? = nil, lockTimeout: Duration = .seconds(2)) {
        self.directory = directory
        self.lockTimeout = lockTimeout
        folder = VaultFolder(path: directory.standardizedFileURL.path)
        keySource = VaultKeySource(folder: folder, given: key)
    }

    /// Returns the key of a client, or `nil` if there is none.
    /// - Throws: ``VaultError``, ``DPoPError``.
    public func key(named name: String) throws -> DPoPKey? {
        guard let (data, _) = try folder.read(Self.file(name)) else { return nil }
        guard let vaultKey = try keySource.key() else {
            throw VaultError(
                .keyMissing, entry: name,
                "The key that the DPoP keys in \(folder.path) are encrypted with is gone. Restore it, or sign in again.")
        }
        return try key(in: data, named: name, vaultKey)
    }

    /// Returns the key of a client and creates it if there is none or if the stored key is permanently unreadable. If the folder's key file
    /// is missing, all keys in the folder are lost and deleted. To keep them, restore a backup before the next sign-in.
    /// - Throws: ``VaultError``.
    public func keyMakingOne(named name: String) throws -> DPoPKey {
        if let known = try ifUsable({ try key(named: name) }) { return known }
        return try locked {
            if try ifUsable({ try keySource.key() }) == nil {
                for entry in try folder.names(beginning: "dpop-", ending: "") { try folder.remove(entry) }
                try folder.remove(VaultKeySource.headerFile)
            }
            let vaultKey = try keySource.keyMakingVault()
            // Another process may have created the key meanwhile.
            if let (data, _) = try folder.read(Self.file(name)), let known = try ifUsable({ try key(in: data, named: name, vaultKey) }) {
                return known
            }
            let made = try SigningKey.generate(.es256)
            var record = VaultRecord(kind: .dpopKey, id: name)
            try record.seal(Data(made.privateJWK.json(includingPrivateMembers: true).serialized()), as: .content, with: vaultKey)
            try folder.write(record.encoded(), to: Self.file(name))
            return try DPoPKey(made)
        }
    }

    /// Deletes the key of a client.
    /// - Throws: ``VaultError``.
    public func removeKey(named name: String) throws {
        guard folder.exists(try Self.file(name)) else { return }
        try locked { try folder.remove(Self.file(name)) }
    }

    /// Returns the value, or `nil` if it is missing or permanently unreadable.
    private func ifUsable<Value>(_ read: () throws -> Value?) throws -> Value? {
        do {
            return try read()
        } catch let error as DPoPError where error.isFinal {
            return nil
        } catch let error as VaultError where error.code == .keyMissing || error.code == .damagedEntry {
            return nil
        }
    }

    private func key(in data: Data, named name: String, _ vaultKey: VaultKey) throws -> DPoPKey {
        let text = try VaultRecord(decoding: data, kind: .dpopKey, id: name).open(.content, with: vaultKey)
        do {
            return try DPoPKey(SigningKey(JSONWebKey(parsing: Array(text)), algorithm: .es256))
        } catch let error as JOSEError {
            throw DPoPError(.keyUnusable, "The stored DPoP key is not a P-256 key. Delete it and sign in again.", underlying: error)
        }
    }

    private func locked<T>(_ change: () throws -> T) throws -> T {
        let isOurs = { $0.hasPrefix("dpop-") || $0 == VaultKey.fileName || $0 == VaultKeySource.headerFile }
        return try folder.locked(timeout: lockTimeout, sweeping: isOurs, change)
    }

    private static func file(_ name: String) throws -> String { try VaultFileName.dpopKey(name) }
}
