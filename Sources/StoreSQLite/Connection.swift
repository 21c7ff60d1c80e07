internal import Foundation
internal import GRDB
internal import Store

/// Opens connections to the database file and translates SQLite's errors.
enum Connection {
    /// Runs a body under a lock on the folder, because SQLite does not wait for a process that is just creating the same file. Blocks its
    /// thread for up to `attempts` times 10 milliseconds, by default 10 seconds, as SQLite does for a locked database. A server opens its
    /// store before it serves requests.
    /// - Throws: `StoreError` if another process keeps the folder locked; the body's error.
    static func alone<Result>(inFolderOf path: String, attempts: Int = 1_000, _ body: () throws -> Result) throws -> Result {
        let folder = open(URL(filePath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        // On file systems without such locks, two processes that start at the same time may fail and need a retry.
        var failures = 0
        while folder >= 0, flock(folder, LOCK_EX | LOCK_NB) < 0, errno == EWOULDBLOCK || errno == EINTR {
            failures += 1
            guard failures < attempts else {
                let name = URL(filePath: path).deletingLastPathComponent().path
                throw StoreError(
                    .unavailable, "Another process keeps the folder \(name) locked: it is opening the same database. Stop it, or try again."
                )
            }
            // Blocks the caller's thread, but only before the server serves requests, and for a limited time.
            usleep(10_000)
        }
        return try body()
    }

    /// Opens the writing connection; creates the file if there is none.
    static func writer(path: String) throws -> DatabaseQueue {
        var configuration = base
        configuration.label = "countersign.store.writer"
        configuration.prepareDatabase { db in
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
            // A commit is on disk when it returns, even after a power loss.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 4000")
            try db.execute(sql: "PRAGMA cache_size = -3000")
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

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
        // Another process may be writing; this connection waits on its own thread.
        configuration.busyMode = .timeout(10)
        // The store begins and ends transactions itself, because several commits share one.
        configuration.allowsUnsafeTransactions = true
        return configuration
    }

    static func full(_ path: String, _ error: (any Error)? = nil) -> StoreError {
        StoreError(.unavailable, "The disk under \(path) is full. Make room and try again.", underlying: error)
    }

    /// Translates an SQLite error to a message for the operator.
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
        case .SQLITE_FULL: return full(path, error)
        // SQLite cannot make the shared file of the write-ahead log larger.
        case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE: return full(path, error)
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH:
            return StoreError(
                .unavailable,
                "The database \(path) cannot be opened for writing. Check that the folder exists, who owns it, and that its file system is not mounted read-only.",
                underlying: error)
        default:
            return StoreError(.unavailable, "The database \(path) failed.", underlying: error)
        }
    }
}
