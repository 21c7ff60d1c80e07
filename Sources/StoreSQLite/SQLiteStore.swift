package import Foundation
internal import GRDB
package import Store

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The system's `close`, which the store's own hides.
private let systemClose: @Sendable (Int32) -> Int32 = { close($0) }

/// The server's state in one file of SQLite.
///
/// Writes are committed by one thread of the store's own; those that wait at the same time share a transaction and its flush,
/// each in a savepoint, so that each succeeds or conflicts by itself. Reads run on a few threads with a connection each and see
/// one snapshot. Several processes may use the same file. `Sendable`; safe from any task; blocks no cooperative thread.
package final class SQLiteStore: Store {
    /// The file.
    package let path: String

    private let readers: WorkerThreads<DatabaseQueue>
    private let committer: Committer
    private let connections: [DatabaseQueue]

    /// Opens the store, making the folder (mode 0700) and the file (0600) if there are none, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - path: The file; SQLite keeps two more beside it while it is open.
    ///   - readerCount: How many reads run at the same time, 1 to 16.
    /// - Throws: `StoreError` with `StoreError/Code/newerVersion` if a newer version of the server wrote it,
    ///   `StoreError/Code/damaged` if it is no database, `StoreError/Code/unsafeFile` if other users may change the folder or read the file, or
    ///   the path is a symbolic link or no regular file, `StoreError/Code/unavailable` if it cannot be opened.
    package init(path: String, readerCount: Int = 2) throws {
        self.path = path
        do {
            try Self.prepareFile(path)
            let writer = try Connection.alone(inFolderOf: path) {
                let writer = try Connection.writer(path: path)
                try Schema.migrate(writer, path: path)
                return writer
            }
            let reading = try (0..<min(max(readerCount, 1), 16)).map { _ in try Connection.reader(path: path) }
            committer = Committer(writer)
            readers = WorkerThreads(reading, name: "countersign-store-reader")
            connections = reading + [writer]
        } catch {
            throw Connection.error(error, path: path)
        }
    }

    deinit {
        readers.close()
        committer.close()
    }

    /// Reads a snapshot; see `Store.read`.
    ///
    /// - Parameter body: Reads through the view, on a thread of the store's.
    /// - Returns: What the body returned.
    /// - Throws: `StoreError`, or what the body throws.
    package func read<Result: Sendable>(_ body: @escaping @Sendable (any StoreView) throws -> Result) async throws -> Result {
        do {
            return try await readers.run { queue in
                try queue.unsafeRead { db in
                    try db.cachedStatement(sql: "BEGIN DEFERRED").execute()
                    defer {
                        // The transaction only read; if its end fails, the next BEGIN says so.
                        try? db.cachedStatement(sql: "COMMIT").execute()
                    }
                    let view = SQLiteView(db)
                    // BEGIN alone fixes nothing: the snapshot is taken by the first look.
                    _ = try view.configurationVersion()
                    return try body(view)
                }
            }
        } catch {
            throw translated(error)
        }
    }

    /// Commits changes together; see `Store.commit`.
    ///
    /// - Parameter changes: Applied in order.
    /// - Returns: Whether they are on disk.
    /// - Throws: `StoreError` if the database failed; then nothing was committed.
    package func commit(_ changes: [Change]) async throws -> CommitOutcome {
        do { return try await committer.commit(changes) } catch { throw translated(error) }
    }

    /// Does work that ends in a commit, and lets commits that are ready wait for it, at most
    /// some milliseconds; see `Store.preparingCommit`.
    ///
    /// - Parameter work: Prepares the changes.
    /// - Returns: What the work returned.
    /// - Throws: What the work throws.
    package func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        committer.expect()
        defer { committer.expectNoMore() }
        return try await work()
    }

    /// Removes what expired; see `Store.removeExpired`.
    ///
    /// - Parameters:
    ///   - now: What expired before it goes.
    ///   - limit: The most rows to remove, at least 1.
    /// - Returns: How many were removed.
    /// - Throws: `StoreError` if the database failed.
    package func removeExpired(now: Date, limit: Int) async throws -> Int {
        do {
            return try await committer.write { db in try SQLiteChanges(db).removeExpired(now: now, limit: limit) }
        } catch {
            throw translated(error)
        }
    }

    /// Closes the store after the reads and commits under way.
    ///
    /// - Throws: `StoreError` if the last writes could not be flushed.
    package func close() async throws {
        readers.close()
        committer.close()
        await readers.ended()
        await committer.ended()
        do {
            // Closing copies the journal into the file and flushes it: not on a cooperative thread.
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                Thread.detachNewThread { [connections] in
                    continuation.resume(with: Result { for connection in connections { try connection.close() } })
                }
            }
        } catch {
            throw translated(error)
        }
    }

    private func translated(_ error: any Error) -> any Error {
        error is JobQueueClosed
            ? StoreError(.closed, "The store \(path) was closed. Open it again.") : Connection.error(error, path: path)
    }

    private static func prepareFile(_ path: String) throws {
        do {
            try FileProtection.checkFolder(URL(filePath: path).deletingLastPathComponent().path)
            // SQLite follows symbolic links and applies an existing write-ahead log. After this check no other user can create one: the folder
            // belongs to the server.
            for suffix in ["", "-wal", "-shm", "-journal"] { try FileProtection.checkFile(path + suffix, .ownerOnly) }
        } catch {
            throw StoreError(.unsafeFile, error.message)
        }
        let files = FileManager.default
        let folder = URL(filePath: path).deletingLastPathComponent()
        if !files.fileExists(atPath: folder.path) {
            do {
                try files.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw StoreError(
                    .unavailable,
                    "The folder \(folder.path) cannot be made. Check its parent and who owns it, or name another data folder.",
                    underlying: error)
            }
        }
        // SQLite would make it readable for others; it gives its companions the mode of the file. FileManager would put an empty
        // file in the place of one that another process has just made.
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            _ = systemClose(descriptor)
        } else if errno != EEXIST {
            throw StoreError(.unavailable, "The database \(path) cannot be made. Check that the folder exists and who owns it.")
        }
    }
}
