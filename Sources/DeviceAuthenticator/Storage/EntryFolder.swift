internal import AuthFoundation
internal import Crypto
internal import Foundation

/// The folder of an authenticator's sealed entries: mode 0700, files of mode 0600, replaced atomically. A stateless value; safe from any
/// thread. A lock serializes changes across processes and authenticators. All members do local file work on the caller's thread.
struct EntryFolder: Sendable {
    private static let lockTimeout: Duration = .seconds(2)

    let folder: VaultFolder
    let keySource: any StoreKeySource

    init(path: String, keySource: any StoreKeySource) {
        folder = VaultFolder(path: path)
        self.keySource = keySource
    }

    /// Creates the folder, and ensures that only its owner can change it.
    func create() throws { try folder.create() }

    func read<Content: Decodable>(_ type: Content.Type, _ kind: SealedEntry.Kind, _ id: String) throws -> Content? {
        try read(type, kind, file: SealedEntry.fileName(kind, id))
    }

    /// Returns the readable entries of a kind, and an error for each unreadable entry.
    func all<Content: Decodable>(_ type: Content.Type, _ kind: SealedEntry.Kind) throws -> (contents: [Content], failures: [StorageError]) {
        var contents: [Content] = []
        var failures: [StorageError] = []
        for name in try folder.names(beginning: kind.rawValue + "-", ending: ".json") {
            do {
                // The content is `nil` if another process has just deleted the entry.
                if let content = try read(type, kind, file: name) { contents.append(content) }
            } catch {
                failures.append(StorageError(error))
            }
        }
        return (contents, failures)
    }

    private func read<Content: Decodable>(_ type: Content.Type, _ kind: SealedEntry.Kind, file name: String) throws -> Content? {
        guard let (data, _) = try folder.read(name) else { return nil }
        let entry = try SealedEntry(decoding: data, kind: kind, name: name)
        let content = try entry.open(.sealed, with: key())
        do {
            return try JSONDecoder().decode(type, from: content)
        } catch {
            // The decoder's error may quote what it read.
            throw kind.damaged("holds nothing that this version understands", id: entry.id)
        }
    }

    private func key() throws -> VaultKey {
        guard let key = try keySource.key(in: folder) else { throw try keyMissing() }
        return key
    }

    private func keyMissing() throws -> StorageError {
        if try keySource.isLossFinal(in: folder) { return .itemNotFound }
        return .generalStorageError(
            "The enrollments in \(folder.path) are sealed and their key is gone. Restore it, or delete the folder and enroll again.")
    }

    /// Operations that require the folder's lock.
    struct Writer {
        fileprivate let folder: EntryFolder
        fileprivate let key: VaultKey

        func write(_ content: some Encodable, _ kind: SealedEntry.Kind, _ id: String) throws {
            var entry = SealedEntry(kind: kind, id: id)
            try entry.seal(JSONEncoder().encode(content), as: .sealed, with: key)
            try folder.folder.write(entry.encoded(), to: SealedEntry.fileName(kind, id))
        }

        func remove(_ kind: SealedEntry.Kind, _ id: String) throws {
            try folder.folder.remove(SealedEntry.fileName(kind, id))
        }
    }

    /// Runs a change under the folder's lock. Each write is atomic. Order the writes so that a crash between two of them does no harm.
    func change<Result>(_ body: (Writer) throws -> Result) throws -> Result {
        let isOurs = { (name: String) in
            name == VaultKey.fileName || name == KeychainStoreKey.groupFile
                || SealedEntry.Kind.allCases.contains { name.hasPrefix($0.rawValue + "-") }
        }
        return try folder.locked(timeout: Self.lockTimeout, sweeping: isOurs) {
            try body(Writer(folder: self, key: try keyMakingOne()))
        }
    }

    private func keyMakingOne() throws -> VaultKey {
        let isEmpty = try SealedEntry.Kind.allCases.allSatisfy { try folder.names(beginning: $0.rawValue + "-", ending: ".json").isEmpty }
        if isEmpty { try keySource.prepare(folder) }
        if let key = try keySource.key(in: folder) {
            try keySource.complete(folder)
            return key
        }
        // A new key would make the existing entries permanently unreadable.
        guard isEmpty else { throw try keyMissing() }
        return try keySource.makeKey(in: folder)
    }

    /// Removes the entries of these kinds if their key is lost for good, such as after a restore to another device. Otherwise they would
    /// prevent every new enrollment. Returns whether there were any.
    func removeLost(_ kinds: [SealedEntry.Kind]) throws -> Bool {
        guard try keySource.key(in: folder) == nil, try keySource.isLossFinal(in: folder) else { return false }
        return try folder.locked(timeout: Self.lockTimeout, sweeping: { _ in false }) {
            // Another process may have enrolled meanwhile, also with a key that this process cannot see.
            guard try keySource.key(in: folder) == nil, try keySource.isLossFinal(in: folder) else { return false }
            let names = try kinds.flatMap { try folder.names(beginning: $0.rawValue + "-", ending: ".json") }
            for name in names { try folder.remove(name) }
            return !names.isEmpty
        }
    }
}

/// One file of an authenticator's folder, with sealed content.
typealias SealedEntry = SealedRecord<SealedEntryKind>

enum SealedEntryKind: String, SealedRecordKind, CaseIterable {
    case enrollment, device, policy, challengeKeys, key

    static let store = "countersign-device"

    func newerFormat(_ format: Int, id: String) -> any Error {
        StorageError.storageMigrationError(
            "The \(rawValue) entry \(id) has format \(format), and this version reads up to \(SealedEntry.format). Update the app; the entry is untouched."
        )
    }

    func damaged(_ what: String, id: String, _ underlying: (any Error)? = nil) -> any Error {
        StorageError.generalStorageError(
            "The \(rawValue) entry \(id) \(what). It was left as it is: restore it, or delete its file and enroll again.")
    }
}

extension SealedEntry {
    /// Returns the name of an entry's file. The id is hashed, because a server chose it and it could contain path components.
    static func fileName(_ kind: Kind, _ id: String) -> String {
        "\(kind.rawValue)-\(SHA256.hash(data: Data(id.utf8)).map { String(format: "%02x", $0) }.joined()).json"
    }

    /// Parses a file. `kind` is the kind in the file's name. Throws a ``StorageError`` that names the entry.
    init(decoding data: Data, kind: Kind, name: String) throws {
        try self.init(decoding: data, kind: kind, name: name) { Self.fileName(kind, $0) == name }
    }
}

/// A source of the key that seals an authenticator's entries.
protocol StoreKeySource: Sendable {
    /// Returns the key; `nil` if there is no key yet.
    func key(in folder: VaultFolder) throws -> VaultKey?
    /// Creates the key. The caller must hold the folder's lock and have found no key.
    func makeKey(in folder: VaultFolder) throws -> VaultKey
    /// Records in a folder without entries where the key of its entries will be stored. The caller must hold the folder's lock.
    func prepare(_ folder: VaultFolder) throws
    /// Records where the key of existing entries is stored, if an earlier version of this module did not record it. The caller must hold the
    /// folder's lock and have found the key.
    func complete(_ folder: VaultFolder) throws
    /// Whether a missing key is lost for good, and with it the entries that it sealed.
    func isLossFinal(in folder: VaultFolder) throws -> Bool
}

/// A source that stores the key in a file of mode 0600 in the same folder, as 32 bytes in Base64.
struct StoreKeyFile: StoreKeySource {
    func key(in folder: VaultFolder) throws -> VaultKey? {
        do {
            return try VaultKey.stored(in: folder)
        } catch let error as VaultError where error.code == .invalidKey {
            throw StorageError.generalStorageError(
                "\(folder.path)/\(VaultKey.fileName) holds no key. Restore it, or delete the folder and enroll again.")
        }
    }

    func makeKey(in folder: VaultFolder) throws -> VaultKey { try VaultKey.makeStored(in: folder) }

    func prepare(_ folder: VaultFolder) {}

    func complete(_ folder: VaultFolder) {}

    /// `false`, because the user can restore the file from a backup.
    func isLossFinal(in folder: VaultFolder) -> Bool { false }
}

enum StorageLocation {
    /// Returns the folder of a group: in the app group's container on Apple platforms, elsewhere `countersign/devices/<group>` in
    /// `$XDG_DATA_HOME`, or else in `~/.local/share`.
    static func folder(group: String) throws -> URL {
        #if canImport(Darwin)
        if let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) {
            return container.appendingPathComponent(DeviceAuthenticatorConstants.defaultStorageRelativeDirectoryPath, isDirectory: true)
        }
        throw StorageError.missingAppGroupEntitlement
        #else
        return try folder(group: group, environment: ProcessInfo.processInfo.environment, home: UserFolders.home)
        #endif
    }

    static func folder(group: String, environment: [String: String], home: String) throws -> URL {
        guard isFileName(group) else {
            throw StorageError.generalStorageError(
                "The applicationGroupId \"\(group)\" names a folder here, so it is made of letters, digits, dots, hyphens and underscores and does not begin with a dot. Choose another one, or name a folder with storageDirectory(_:)."
            )
        }
        return UserFolders.data(environment: environment, home: home).appendingPathComponent(
            "countersign/devices/\(group)", isDirectory: true)
    }

    private static func isFileName(_ name: String) -> Bool {
        guard (1...200).contains(name.utf8.count), !name.hasPrefix(".") else { return false }
        return name.utf8.allSatisfy { byte in
            (65...90).contains(byte) || (97...122).contains(byte) || (48...57).contains(byte) || "-._".utf8.contains(byte)
        }
    }
}
