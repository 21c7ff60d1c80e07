internal import Foundation

/// A fixed number of threads for blocking work, which must not run on cooperative threads. Each thread passes its own context (a database
/// connection) to its jobs, one at a time.
package final class WorkerThreads<Context: Sendable>: Sendable {
    package typealias Job = @Sendable (Context) -> Void

    private let queue = JobQueue<Job>()
    private let end: Countdown

    /// Starts one thread per context.
    package init(_ contexts: [Context], name: String) {
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

    /// Runs a job on one of the threads. Throws the job's error, or ``JobQueueClosed``.
    package func run<Result: Sendable>(_ body: @escaping @Sendable (Context) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let isQueued = queue.add { context in
                continuation.resume(with: Swift.Result { try body(context) })
            }
            if !isQueued { continuation.resume(throwing: JobQueueClosed()) }
        }
    }

    /// Lets the threads end after the queued jobs.
    package func close() {
        queue.close()
    }

    /// Waits until the threads have ended after ``close()``.
    package func ended() async {
        await end.reached()
    }
}

/// Lets tasks wait until a number of threads have ended. `@unchecked Sendable` is safe because `remaining` and `waiting` are accessed only
/// under the lock.
package final class Countdown: @unchecked Sendable {
    private let lock = NSLock()
    private var remaining: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init(_ count: Int) {
        remaining = count
    }

    package func step() {
        let released = lock.withLock {
            remaining -= 1
            guard remaining == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { waiting = [] }
            return waiting
        }
        for continuation in released { continuation.resume() }
    }

    package func reached() async {
        await withCheckedContinuation { continuation in
            let isOver = lock.withLock {
                if remaining > 0 { waiting.append(continuation) }
                return remaining <= 0
            }
            if isOver { continuation.resume() }
        }
    }
}
