internal import Foundation
internal import GRDB
package import Store

extension SQLiteStore {
    /// Rewrites the database file without free space, and empties the write-ahead log. Commits of other processes wait meanwhile.
    package func eraseRemains() async throws -> ErasureOutcome { try await eraseRemains(waiting: 10) }

    /// Erases the remains of records.
    /// - Parameter seconds: The time for which other processes may keep the database busy before the outcome is ``ErasureOutcome/busy``.
    package func eraseRemains(waiting seconds: Int) async throws -> ErasureOutcome {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<ErasureOutcome, any Error>) in
            Thread.detachNewThread { [path] in
                continuation.resume(
                    with: Result { try Self.erase(path, waiting: seconds) }.mapError { Connection.error($0, path: path) })
            }
        }
    }

    /// A replaced record stays readable in three places: in free space within its page, in freed pages, and in the write-ahead log. The
    /// pragma `secure_delete` alone would clear only what is freed from now on, and would add writes to each request. `VACUUM` clears all
    /// free space at once; the pragma then also clears the unused parts of the pages that it makes.
    private static func erase(_ path: String, waiting seconds: Int) throws -> ErasureOutcome {
        let connection = try Connection.writer(path: path)
        defer { try? connection.close() }
        return try connection.writeWithoutTransaction { db -> ErasureOutcome in
            try db.execute(sql: "PRAGMA busy_timeout = \(seconds * 1_000)")
            try db.execute(sql: "PRAGMA secure_delete = ON")
            do {
                try db.execute(sql: "VACUUM")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                return .busy
            }
            // SQLite does not wait for a process that copies the log into the file at the same moment.
            let end = ContinuousClock.now + .seconds(seconds)
            repeat {
                // The first column is 0 if the whole log was copied and the log was truncated.
                if try Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == 0 { return .erased }
                // Safe: only this thread, which was made for the erasure, waits.
                usleep(100_000)
            } while ContinuousClock.now < end
            return .busy
        }
    }
}
