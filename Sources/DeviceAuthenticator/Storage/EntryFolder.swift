internal import AuthFoundation
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

    /// Returns the readable entries of a kind, and one error for each unreadable one.
    func all<Content: Decodable>(_ type: Content.Type, _ kind: SealedEntry.Kind) throws -> (contents: [Content], failures: [StorageError]) {
        var contents: [Content] = []
        var failures: [StorageError] = []
        for name in try folder.names(beginning: kind.rawValue + "-", ending: ".json") {
            do {
                // `nil` if another process has just deleted the entry.
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
        guard let key = try keySource.key(in: folder) else { throw Self.keyMissing(folder) }
        return key
    }

    private static func keyMissing(_ folder: VaultFolder) -> StorageError {
        .generalStorageError(
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

    /// Runs a change under the folder's lock. Each write is atomic; order the writes so that being killed between them does no harm.
    func change<Result>(_ body: (Writer) throws -> Result) throws -> Result {
        let isOurs = { (name: String) in
            name == VaultKey.fileName || SealedEntry.Kind.allCases.contains { name.hasPrefix($0.rawValue + "-") }
        }
        return try folder.locked(timeout: Self.lockTimeout, sweeping: isOurs) {
            try body(Writer(folder: self, key: try keyMakingOne()))
        }
    }

    private func keyMakingOne() throws -> VaultKey {
        if let key = try keySource.key(in: folder) { return key }
        // A new key would make the existing entries permanently unreadable.
        for kind in SealedEntry.Kind.allCases where try !folder.names(beginning: kind.rawValue + "-", ending: ".json").isEmpty {
            throw Self.keyMissing(folder)
        }
        return try keySource.makeKey(in: folder)
    }
}
