internal import Foundation
internal import GRDB
internal import Store

extension SQLiteStore {
    /// Copies a database into a new file, readable by its owner only, while servers may use the database. The copy contains every commit of
    /// one moment and is checked before it gets its name, so that an interrupted call leaves no usable file. Blocks the thread.
    /// - Throws: `StoreError` if there is no database, if the new file exists already or cannot be written, if other users may
    ///   change its folder, or if the database is damaged.
    package static func copy(_ path: String, to copy: String) throws {
        let files = FileManager.default
        guard files.fileExists(atPath: path) else { throw StoreError(.unavailable, "There is no database \(path).") }
        guard !exists(copy) else {
            throw StoreError(.unavailable, "The file \(copy) exists already and was not changed. Name another file.")
        }
        // SQLite would apply the journal of another database to the copy.
        for suffix in ["-wal", "-shm", "-journal"] where exists(copy + suffix) {
            throw StoreError(
                .unavailable,
                "The file \(copy + suffix) belongs to a database that was here before. Move all files of that database away first.")
        }
        let part = copy + ".part"
        var isOwn = false
        do {
            try prepareFile(part)
            try Connection.alone(inFolderOf: part) {
                // An earlier call that was interrupted may have left content.
                try files.removeItem(atPath: part)
                try prepareFile(part)
                isOwn = true
                let (source, target) = (try Connection.reader(path: path), try DatabaseQueue(path: part))
                try source.backup(to: target)
                try target.inDatabase { db in
                    // The copy is one file, without a journal beside it.
                    _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
                    let result = try String.fetchOne(db, sql: "PRAGMA integrity_check")
                    guard result == "ok" else {
                        throw StoreError(.damaged, "The database \(path) is damaged: \(result ?? ""). Restore an older backup.")
                    }
                }
                try target.close()
                try source.close()
                try files.moveItem(atPath: part, toPath: copy)
            }
        } catch {
            if isOwn { unlink(part) }
            throw Connection.error(error, path: copy)
        }
    }

    /// Whether there is anything at a path, also a symbolic link without a target.
    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}
