internal import Foundation
internal import GRDB
internal import Store

/// The one thread that writes.
final class Committer: Sendable {
    /// The most commits that share a transaction: enough to spread a flush thin, few enough to answer the first one soon.
    private static let batchLimit = 64
    /// How long, in seconds, commits that are ready wait for those that are being prepared. A flush costs a tenth of it in time
    /// and, with all that goes with it, more than the signature of a small key in work.
    private static let gathering: TimeInterval = 0.002

    private enum Job: Sendable {
        case commit([Change], CheckedContinuation<CommitOutcome, any Error>)
        case write(@Sendable (Database) throws -> Int, CheckedContinuation<Int, any Error>)
    }

    private let queue = JobQueue<Job>()
    private let end = Countdown(1)

    init(_ writer: DatabaseQueue) {
        let thread = Thread { [queue, end] in
            while let jobs = queue.take(atMost: Self.batchLimit, gatheringFor: Self.gathering) { Self.perform(jobs, writer) }
            end.step()
        }
        thread.name = "countersign-store-writer"
        thread.start()
    }

    func commit(_ changes: [Change]) async throws -> CommitOutcome {
        try await withCheckedThrowingContinuation { continuation in
            if !queue.add(.commit(changes, continuation)) { continuation.resume(throwing: JobQueueClosed()) }
        }
    }

    func write(_ body: @escaping @Sendable (Database) throws -> Int) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            if !queue.add(.write(body, continuation)) { continuation.resume(throwing: JobQueueClosed()) }
        }
    }

    /// Somebody prepares a commit.
    func expect() { queue.expect() }

    /// The commit is there now, or there will be none.
    func expectNoMore() { queue.expectNoMore() }

    /// Refuses further work; what was asked before is still done.
    func close() {
        queue.close()
    }

    /// Returns when the thread has ended, some time after ``close()``.
    func ended() async {
        await end.reached()
    }

    // MARK: - On the writing thread

    private static func perform(_ jobs: [Job], _ writer: DatabaseQueue) {
        var answers: [@Sendable (Result<Void, any Error>) -> Void] = []
        let result = Result {
            try writer.unsafeReentrantWrite { db in
                try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
                do {
                    for job in jobs { answers.append(try answer(job, db)) }
                    try db.cachedStatement(sql: "COMMIT").execute()
                } catch {
                    // If the rollback fails too, the connection has none to roll back; the first error tells more.
                    try? db.cachedStatement(sql: "ROLLBACK").execute()
                    throw error
                }
            }
        }
        for answer in answers { answer(result) }
        if case .failure(let error) = result {
            // The job that failed has no answer yet, and those behind it were not looked at.
            for job in jobs.dropFirst(answers.count) { fail(job, error) }
        }
    }

    /// Does a job within the transaction; what it came to is told when the transaction is over.
    private static func answer(_ job: Job, _ db: Database) throws -> @Sendable (Result<Void, any Error>) -> Void {
        switch job {
        case .commit(let changes, let continuation):
            let outcome = try alone(db, keeps: { $0 == .committed }) { try apply(changes, db) }
            return { result in continuation.resume(with: result.flatMap { outcome }) }
        case .write(let body, let continuation):
            let count = try alone(db, keeps: { _ in true }) { try body(db) }
            return { result in continuation.resume(with: result.flatMap { count }) }
        }
    }

    /// Does one job in a savepoint of its own. If it fails and the transaction stands, the job alone is undone and its
    /// neighbours go on; if the transaction is gone (a full disk, say), all of them fail.
    private static func alone<Value>(
        _ db: Database, keeps: (Value) -> Bool, _ body: () throws -> Value
    ) throws -> Result<Value, any Error> {
        try db.cachedStatement(sql: "SAVEPOINT one").execute()
        do {
            let value = try body()
            if !keeps(value) { try db.cachedStatement(sql: "ROLLBACK TO one").execute() }
            try db.cachedStatement(sql: "RELEASE one").execute()
            return .success(value)
        } catch {
            guard db.isInsideTransaction else { throw error }
            try db.cachedStatement(sql: "ROLLBACK TO one").execute()
            try db.cachedStatement(sql: "RELEASE one").execute()
            return .failure(error)
        }
    }

    private static func fail(_ job: Job, _ error: any Error) {
        switch job {
        case .commit(_, let continuation): continuation.resume(throwing: error)
        case .write(_, let continuation): continuation.resume(throwing: error)
        }
    }

    /// Makes the changes, or none of them and says which met what.
    private static func apply(_ changes: [Change], _ db: Database) throws -> CommitOutcome {
        let rows = SQLiteChanges(db)
        for (index, change) in changes.enumerated() {
            if let conflict = try rows.apply(change) { return .conflict(index: index, conflict) }
        }
        return .committed
    }
}
