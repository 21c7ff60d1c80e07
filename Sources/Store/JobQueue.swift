package import Foundation

/// The error for a job that is added to a closed queue.
package struct JobQueueClosed: Error {
    package init() {}
}

/// A blocking queue of jobs for the store's threads. `@unchecked Sendable` is safe because `jobs`, `expected` and `isClosed` are accessed
/// only under the condition's lock.
package final class JobQueue<Job: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [Job] = []
    private var isClosed = false
    /// The number of announced jobs.
    private var expected = 0
    /// The number of queued jobs at which a thread no longer waits for announced jobs.
    private var gatheringLimit = Int.max

    package init() {}

    /// Adds a job. Returns `false` if the queue is closed.
    package func add(_ job: Job) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { return false }
        jobs.append(job)
        // A thread that waits for announced jobs is not woken for each job, because this would cost more than the job.
        if jobs.count == 1 || expected == 0 || jobs.count >= gatheringLimit { condition.signal() }
        return true
    }

    /// Announces a job. ``expectNoMore()`` must follow, before the job is added.
    package func expect() {
        condition.lock()
        defer { condition.unlock() }
        expected += 1
    }

    /// Ends an announcement: the job is about to be added, or will not be.
    package func expectNoMore() {
        condition.lock()
        defer { condition.unlock() }
        expected -= 1
    }

    /// Blocks until there are jobs, and returns at most `limit` of them in order; `nil` if the queue is closed and empty. Waits up to
    /// `patience` seconds for announced jobs. Call it only on the store's own threads.
    package func take(atMost limit: Int, gatheringFor patience: TimeInterval = 0) -> [Job]? {
        condition.lock()
        defer { condition.unlock() }
        while jobs.isEmpty {
            if isClosed { return nil }
            condition.wait()
        }
        if patience > 0 && expected > 0 {
            gatheringLimit = limit
            let end = Date(timeIntervalSinceNow: patience)
            while expected > 0 && jobs.count < limit && !isClosed && condition.wait(until: end) {}
        }
        let taken = Array(jobs.prefix(limit))
        jobs.removeFirst(taken.count)
        return taken
    }

    /// Rejects new jobs; queued jobs are still taken.
    package func close() {
        condition.lock()
        defer { condition.unlock() }
        isClosed = true
        condition.broadcast()
    }
}
