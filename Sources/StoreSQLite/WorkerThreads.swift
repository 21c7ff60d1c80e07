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
