internal import Foundation

/// A fixed number of threads that do blocking work, so that no cooperative thread does.
///
/// Each thread has a context of its own (a database connection) and hands it to the jobs, one at a time.
final class WorkerThreads<Context: Sendable>: Sendable {
    typealias Job = @Sendable (Context) -> Void

    private let queue = JobQueue<Job>()
    private let end: Countdown

    /// Starts a thread for each context.
    ///
    /// - Parameters:
    ///   - contexts: What each thread hands to its jobs.
    ///   - name: The threads' name.
    init(_ contexts: [Context], name: String) {
        end = Countdown(contexts.count)
        for context in contexts {
            let thread = Thread { [queue, end] in
                while let jobs = queue.take(atMost: 1) {
                    for job in jobs { job(context) }
                }
                end.step()
            }
            thread.name = name
            thread.start()
        }
    }

    /// Runs a job on one of the threads.
    ///
    /// - Parameter body: The job.
    /// - Returns: What the job returned.
    /// - Throws: What the job throws, or ``JobQueueClosed``.
    func run<Result: Sendable>(_ body: @escaping @Sendable (Context) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let isQueued = queue.add { context in
                continuation.resume(with: Swift.Result { try body(context) })
            }
            if !isQueued { continuation.resume(throwing: JobQueueClosed()) }
        }
    }

    /// Lets the threads end after the jobs that wait.
    func close() {
        queue.close()
    }

    /// Returns when the threads have ended, some time after ``close()``.
    func ended() async {
        await end.reached()
    }
}

/// Tells tasks when a number of threads of ours have come to their end.
///
/// `@unchecked Sendable`: `remaining` and `waiting` are read and written only while the lock is held.
final class Countdown: @unchecked Sendable {
    private let lock = NSLock()
    private var remaining: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) {
        remaining = count
    }

    /// Counts one thread as ended.
    func step() {
        let released = lock.withLock {
            remaining -= 1
            guard remaining == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { waiting = [] }
            return waiting
        }
        for continuation in released { continuation.resume() }
    }

    /// Returns when all have ended.
    func reached() async {
        await withCheckedContinuation { continuation in
            let isOver = lock.withLock {
                if remaining > 0 { waiting.append(continuation) }
                return remaining <= 0
            }
            if isOver { continuation.resume() }
        }
    }
}
