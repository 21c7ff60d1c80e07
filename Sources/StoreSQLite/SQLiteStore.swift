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

/// The system's `close`, which the store's own method hides.
private let systemClose: @Sendable (Int32) -> Int32 = { close($0) }

/// The server's state in one SQLite file, which several processes may use. Safe from any task; blocks no cooperative thread. One thread
/// commits all writes. Concurrent commits share a transaction and its flush; each has a savepoint, so each succeeds or conflicts
/// separately. Reads run on a few threads, each with its own connection, and see one snapshot.
package final class SQLiteStore: Store {
    package let path: String

    private let readers: WorkerThreads<DatabaseQueue>
    private let committer: Committer
    private let connections: [DatabaseQueue]

    /// Opens the store and migrates its schema. Creates the folder (mode 0700) and the file (0600) if they are missing. While the store is
    /// open, SQLite keeps two more files beside the database.
    /// - Parameter readerCount: The number of concurrent reads, 1 to 16.
    /// - Throws: `StoreError` with one of these codes:
    ///   - `newerVersion`: a newer version of the server wrote the file.
    ///   - `damaged`: the file is not a valid database.
    ///   - `unsafeFile`: other users may change the folder or read the file, or the path is a symbolic link or not a regular file.
    ///   - `unavailable`: the file cannot be opened, or is the target of an unfinished copy.
    package init(path: String, readerCount: Int = 2) throws {
        self.path = path
        do {
            try Self.prepareFile(path)
            let writer = try Connection.alone(inFolderOf: path) {
                let writer = try Connection.writer(path: path)
                try Schema.migrate(writer, path: path)
                guard try !writer.read(Schema.isUnfinishedCopy) else { throw StoreError.unfinishedCopy(path) }
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

    package func read<Result: Sendable>(
        _ lookup: @escaping @Sendable () -> Lookup, _ body: @escaping @Sendable (any StoreView) throws -> Result
    ) async throws -> Result {
        do {
            return try await readers.run { queue in
                try queue.unsafeRead { db in
                    try db.cachedStatement(sql: "BEGIN DEFERRED").execute()
                    defer {
                        // The transaction only read; if its end fails, the next BEGIN reports it.
                        try? db.cachedStatement(sql: "COMMIT").execute()
                    }
                    let view = SQLiteView(db)
                    // BEGIN alone does not take the snapshot; the first read does.
                    _ = try view.configurationVersion()
                    return try body(view)
                }
            }
        } catch {
            throw translated(error)
        }
    }

    package func commit(_ changes: [Change]) async throws -> CommitOutcome {
        do { return try await committer.commit(changes) } catch { throw translated(error) }
    }

    /// Runs work that precedes a commit. Commits that are ready wait a few milliseconds at most for this work.
    package func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        committer.expect()
        defer { committer.expectNoMore() }
        return try await work()
    }

    package func removeExpired(now: Date, limit: Int) async throws -> Int {
        do {
            return try await committer.write { db in try SQLiteChanges(db).removeExpired(now: now, limit: limit) }
        } catch {
            throw translated(error)
        }
    }

    /// Closes the store after the pending reads and commits.
    package func close() async throws {
        readers.close()
        committer.close()
        await readers.ended()
        await committer.ended()
        do {
            // Closing copies the journal into the file and flushes it, which would block a cooperative thread.
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

    static func prepareFile(_ path: String) throws {
        do {
            try FileProtection.checkFolder(URL(filePath: path).deletingLastPathComponent().path)
            // SQLite follows symbolic links and applies an existing write-ahead log. After this check no other user can create one: the
            // folder belongs to the server.
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
        // SQLite would make the file readable for others; its companion files get the file's mode. FileManager could replace a file that
        // another process has just created with an empty one.
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            _ = systemClose(descriptor)
        } else if errno == ENOSPC {
            throw Connection.full(path)
        } else if errno != EEXIST {
            throw StoreError(.unavailable, "The database \(path) cannot be made. Check that the folder exists and who owns it.")
        }
    }
}
