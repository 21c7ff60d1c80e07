internal import Foundation
internal import GRDB
internal import Store

/// The only thread that writes.
final class Committer: Sendable {
    /// The maximum number of commits per transaction: enough to share the cost of a flush, few enough to answer the first one soon.
    private static let batchLimit = 64
    /// The maximum time in seconds for which ready commits wait for commits in preparation. A flush takes about a tenth of this time, but
    /// causes more work in total than a signature with a small key.
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

    /// Announces a commit in preparation.
    func expect() { queue.expect() }

    /// Withdraws the announcement of a commit: the commit is about to be added, or none will follow.
    func expectNoMore() { queue.expectNoMore() }

    /// Rejects new work; queued work is still done.
    func close() {
        queue.close()
    }

    /// Waits until the thread has ended after ``close()``.
    func ended() async {
        await end.reached()
    }

    private static func perform(_ jobs: [Job], _ writer: DatabaseQueue) {
        var answers: [@Sendable (Result<Void, any Error>) -> Void] = []
        let result = Result {
            try writer.unsafeReentrantWrite { db in
                try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
                do {
                    for job in jobs { answers.append(try answer(job, db)) }
                    try db.cachedStatement(sql: "COMMIT").execute()
                } catch {
                    // If the rollback fails too, there is no transaction. Report the first error, which is more useful.
                    try? db.cachedStatement(sql: "ROLLBACK").execute()
                    throw error
                }
            }
        }
        for answer in answers { answer(result) }
        if case .failure(let error) = result {
            // The failed job has no answer yet, and the later jobs have not run.
            for job in jobs.dropFirst(answers.count) { fail(job, error) }
        }
    }

    /// Runs a job within the transaction. The returned closure reports the job's result after the transaction.
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

    /// Runs a job in its own savepoint. If the job fails, or if `keeps` returns `false`, only its changes are undone. If the whole
    /// transaction is lost (such as on a full disk), all jobs fail.
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

    /// Applies all changes, or returns the first conflict.
    private static func apply(_ changes: [Change], _ db: Database) throws -> CommitOutcome {
        let rows = SQLiteChanges(db)
        for (index, change) in changes.enumerated() {
            if let conflict = try rows.apply(change) { return .conflict(index: index, conflict) }
        }
        return .committed
    }
}
