internal import Foundation
internal import GRDB
internal import Store

/// How connections to the file are opened, and how SQLite's errors read.
enum Connection {
    /// Opens files one after the other, also in other processes: SQLite does not wait for a process that is just making the same file.
    ///
    /// Blocks its thread while it waits, for ten seconds at most, as SQLite itself does for a locked database. A server opens its store before it
    /// serves anything.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - attempts: How often to try, every ten milliseconds.
    ///   - body: Opens the file.
    /// - Returns: What the body returned.
    /// - Throws: `StoreError` if another process keeps the folder locked; what the body throws.
    static func alone<Result>(inFolderOf path: String, attempts: Int = 1_000, _ body: () throws -> Result) throws -> Result {
        let folder = open(URL(filePath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        // Where the file system has no such locks, two that open at one moment may be told to try again.
        var failures = 0
        while folder >= 0, flock(folder, LOCK_EX | LOCK_NB) < 0, errno == EWOULDBLOCK || errno == EINTR {
            failures += 1
            guard failures < attempts else {
                let name = URL(filePath: path).deletingLastPathComponent().path
                throw StoreError(
                    .unavailable, "Another process keeps the folder \(name) locked: it is opening the same database. Stop it, or try again."
                )
            }
            // On the caller's thread, only before the server serves; the attempts bound the wait.
            usleep(10_000)
        }
        return try body()
    }

    /// Opens the connection that writes, making the file if there is none.
    static func writer(path: String) throws -> DatabaseQueue {
        var configuration = base
        configuration.label = "countersign.store.writer"
        configuration.prepareDatabase { db in
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
            // A commit is on disk when it returns, also after a loss of power.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 4000")
            try db.execute(sql: "PRAGMA cache_size = -3000")
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Opens a connection that only reads.
    static func reader(path: String) throws -> DatabaseQueue {
        var configuration = base
        configuration.label = "countersign.store.reader"
        configuration.readonly = true
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA cache_size = -2000")
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static var base: GRDB.Configuration {
        var configuration = GRDB.Configuration()
        configuration.foreignKeysEnabled = false
        // Another process may be writing; ours waits on a thread of its own.
        configuration.busyMode = .timeout(10)
        // Transactions are ours to begin and end: one of several commits' together.
        configuration.allowsUnsafeTransactions = true
        return configuration
    }

    /// What the operator reads for an error of SQLite.
    static func error(_ error: any Error, path: String) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        switch error.resultCode {
        case .SQLITE_NOTADB, .SQLITE_CORRUPT:
            return StoreError(
                .damaged, "The database \(path) is damaged or no database. Restore it from a backup, or name another data folder.",
                underlying: error)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            return StoreError(
                .unavailable, "Another process kept the database \(path) locked for ten seconds. Stop it, or wait and try again.",
                underlying: error)
        case .SQLITE_FULL:
            return StoreError(.unavailable, "The disk under \(path) is full. Make room and try again.", underlying: error)
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH:
            return StoreError(
                .unavailable, "The database \(path) cannot be opened for writing. Check that the folder exists and who owns it.",
                underlying: error)
        default:
            return StoreError(.unavailable, "The database \(path) failed.", underlying: error)
        }
    }
}
