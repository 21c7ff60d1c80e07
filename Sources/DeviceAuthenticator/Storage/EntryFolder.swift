internal import AuthFoundation
internal import Crypto
internal import Foundation

/// The folder of an authenticator's entries: a folder of 0700, files of 0600, each sealed and replaced as a whole or not at all.
///
/// A value without state, safe from any thread. Changes of several processes, and of several authenticators of one process, take turns.
/// All members do local file work on the caller's thread.
struct EntryFolder: Sendable {
    private static let lockName = "lock"
    private static let lockTimeout: Duration = .seconds(2)

    let folder: VaultFolder
    let keySource: any StoreKeySource

    init(path: String, keySource: any StoreKeySource) {
        folder = VaultFolder(path: path)
        self.keySource = keySource
    }

    /// Makes the folder, and sees to it that nobody else may change it.
    func create() throws { try folder.create() }

    // MARK: - Reading

    /// - Returns: nil if there is no such entry.
    func read<Content: Decodable>(_ type: Content.Type, _ kind: SealedEntry.Kind, _ id: String) throws -> Content? {
        try read(type, kind, file: SealedEntry.fileName(kind, id))
    }

    /// All entries of a kind: those that can be read, and for each other one the error that names it.
    func all<Content: Decodable>(_ type: Content.Type, _ kind: SealedEntry.Kind) throws -> (contents: [Content], failures: [StorageError]) {
        var contents: [Content] = []
        var failures: [StorageError] = []
        for name in try folder.names(beginning: kind.rawValue + "-", ending: ".json") {
            do {
                // One that another process deletes at this moment is just not there any more.
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
        let content = try entry.open(with: key())
        do {
            return try JSONDecoder().decode(type, from: content)
        } catch {
            // The decoder's own error may quote what it read.
            throw SealedEntry.damaged(kind, entry.id, "holds nothing that this version understands")
        }
    }

    private func key() throws -> SymmetricKey {
        guard let key = try keySource.key(in: folder) else { throw Self.keyMissing(folder) }
        return key
    }

    private static func keyMissing(_ folder: VaultFolder) -> StorageError {
        .generalStorageError(
            "The enrollments in \(folder.path) are sealed and their key is gone. Restore it, or delete the folder and enroll again.")
    }

    // MARK: - Changing

    /// What may be done while nobody else changes the folder.
    struct Writer {
        fileprivate let folder: EntryFolder
        fileprivate let key: SymmetricKey

        func write(_ content: some Encodable, _ kind: SealedEntry.Kind, _ id: String) throws {
            let entry = try SealedEntry(try JSONEncoder().encode(content), kind: kind, id: id, key: key)
            try folder.folder.write(entry.encoded(), to: SealedEntry.fileName(kind, id))
        }

        func remove(_ kind: SealedEntry.Kind, _ id: String) throws {
            try folder.folder.remove(SealedEntry.fileName(kind, id))
        }
    }

    /// Runs a change while nobody else makes one. Each write is whole by itself: order them so that a kill in between harms nothing.
    func change<Result>(_ body: (Writer) throws -> Result) throws -> Result {
        try folder.create()
        let lock = try VaultLock.acquire(Self.lockName, in: folder, timeout: Self.lockTimeout)
        defer { lock.release() }
        try folder.sweep { name in name == StoreKeyFile.name || SealedEntry.Kind.allCases.contains { name.hasPrefix($0.rawValue + "-") } }
        return try body(Writer(folder: self, key: try keyMakingOne()))
    }

    private func keyMakingOne() throws -> SymmetricKey {
        if let key = try keySource.key(in: folder) { return key }
        // A new key would make what is there unreadable for good.
        for kind in SealedEntry.Kind.allCases where try !folder.names(beginning: kind.rawValue + "-", ending: ".json").isEmpty {
            throw Self.keyMissing(folder)
        }
        return try keySource.makeKey(in: folder)
    }
}
