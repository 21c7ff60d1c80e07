internal import Foundation
internal import GRDB
internal import IdentityEngine

/// How connections to the file are opened, and how SQLite's errors read.
enum Connection {
    /// Opens files one after the other, also in other processes: SQLite does not wait for who is just making the same file. Blocks meanwhile.
    static func alone<Result>(inFolderOf path: String, _ body: () throws -> Result) rethrows -> Result {
        let folder = open(URL(filePath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        // Where the file system has no such locks, two that open at one moment may be told to try again.
        while folder >= 0, flock(folder, LOCK_EX) < 0, errno == EINTR {}
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
