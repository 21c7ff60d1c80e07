public import Foundation
import JOSE

/// Keeps keys in encrypted files, for Linux and for command-line programs.
///
/// Each key is a file of 0600 in a folder of 0700, encrypted with AES-GCM under the folder's key, as tokens are by ``FileTokenStorage``; see
/// there what that protects against. Safe from any thread, and among processes.
public final class FileDPoPKeyStorage: DPoPKeyStorage {
    private static let lockFile = "lock"

    /// The folder of the keys.
    public let directory: URL

    private let folder: VaultFolder
    private let keySource: VaultKeySource
    private let lockTimeout: Duration

    /// The folder used when none is named: `dpop-keys` in the one of ``FileTokenStorage/defaultDirectory``.
    public static var defaultDirectory: URL { FileTokenStorage.defaultDirectory.appending(path: "dpop-keys", directoryHint: .isDirectory) }

    /// A storage. Nothing is read or made before the first use.
    ///
    /// - Parameters:
    ///   - directory: The folder; made with the first key. Only this storage's files belong in it.
    ///   - key: The key that the files are encrypted with, if the app keeps it elsewhere; nil for a key file in the folder.
    ///   - lockTimeout: How long a change waits for another process's change before it throws ``VaultError/Code/busy``.
    public init(directory: URL = FileDPoPKeyStorage.defaultDirectory, key: VaultKey? = nil, lockTimeout: Duration = .seconds(2)) {
        self.directory = directory
        self.lockTimeout = lockTimeout
        folder = VaultFolder(path: directory.standardizedFileURL.path)
        keySource = VaultKeySource(folder: folder, given: key)
    }

    /// The key of a client.
    ///
    /// - Parameter name: The client's name.
    /// - Returns: The key; nil if there is none.
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

    /// The key of a client, which is made if there is none, or if the one that there is can never be read again: its file is damaged, or the
    /// folder's key file is gone, and with it all keys in the folder. Who has a backup restores it before the next sign-in.
    ///
    /// - Parameter name: The client's name.
    /// - Returns: The key.
    /// - Throws: ``VaultError``.
    public func keyMakingOne(named name: String) throws -> DPoPKey {
        if let known = try ifUsable({ try key(named: name) }) { return known }
        return try locked {
            if try ifUsable({ try keySource.key() }) == nil {
                for entry in try folder.names(beginning: "dpop-", ending: "") { try folder.remove(entry) }
                try folder.remove(VaultKeySource.headerFile)
            }
            let vaultKey = try keySource.keyMakingVault()
            // Another process may have made it meanwhile.
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
    ///
    /// - Parameter name: The client's name.
    /// - Throws: ``VaultError``.
    public func removeKey(named name: String) throws {
        guard folder.exists(try Self.file(name)) else { return }
        try locked { try folder.remove(Self.file(name)) }
    }

    /// What was read; nil if there is nothing, or nothing that could ever be read.
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
            throw DPoPError(.keyUnusable, "The stored DPoP key is no key on P-256. Delete it and sign in again.", underlying: error)
        }
    }

    private func locked<T>(_ change: () throws -> T) throws -> T {
        try folder.create()
        let lock = try VaultLock.acquire(Self.lockFile, in: folder, timeout: lockTimeout)
        defer { lock.release() }
        try folder.sweep { $0.hasPrefix("dpop-") || $0 == VaultKeySource.keyFile || $0 == VaultKeySource.headerFile }
        return try change()
    }

    private static func file(_ name: String) throws -> String { try VaultFileName.dpopKey(name) }
}
