internal import Foundation
internal import GRDB
internal import IdentityEngine

/// The one thread that writes.
final class Committer: Sendable {
    /// The most commits that share a transaction: enough to spread a flush thin, few enough to answer the first one soon.
    private static let batchLimit = 64

    private enum Job: Sendable {
        case commit([Change], CheckedContinuation<CommitOutcome, any Error>)
        case write(@Sendable (Database) throws -> Int, CheckedContinuation<Int, any Error>)
        case finish(CheckedContinuation<Void, any Error>)
    }

    private let queue = JobQueue<Job>()

    init(_ writer: DatabaseQueue, path: String) {
        let thread = Thread { [queue] in
            while let jobs = queue.take(atMost: Self.batchLimit) { Self.perform(jobs, writer) }
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

    /// Refuses further work and waits for what was asked before.
    func finish() async throws {
        try await withCheckedThrowingContinuation { continuation in
            if !queue.add(.finish(continuation)) { continuation.resume(throwing: JobQueueClosed()) }
            queue.close()
        }
    }

    func close() {
        queue.close()
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
            let outcome = try apply(changes, db)
            return { continuation.resume(with: $0.map { outcome }) }
        case .write(let body, let continuation):
            let count = try body(db)
            return { continuation.resume(with: $0.map { count }) }
        case .finish(let continuation):
            return { continuation.resume(with: $0) }
        }
    }

    private static func fail(_ job: Job, _ error: any Error) {
        switch job {
        case .commit(_, let continuation): continuation.resume(throwing: error)
        case .write(_, let continuation): continuation.resume(throwing: error)
        case .finish(let continuation): continuation.resume(throwing: error)
        }
    }

    private static func apply(_ changes: [Change], _ db: Database) throws -> CommitOutcome {
        try db.cachedStatement(sql: "SAVEPOINT one").execute()
        let rows = SQLiteChanges(db)
        for (index, change) in changes.enumerated() {
            if let conflict = try rows.apply(change) {
                try db.cachedStatement(sql: "ROLLBACK TO one").execute()
                try db.cachedStatement(sql: "RELEASE one").execute()
                return .conflict(index: index, conflict)
            }
        }
        try db.cachedStatement(sql: "RELEASE one").execute()
        return .committed
    }
}
