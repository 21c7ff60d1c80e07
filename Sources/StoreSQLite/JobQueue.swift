internal import Foundation

/// Thrown to who adds to a queue that was closed.
struct JobQueueClosed: Error {}

/// What threads of ours wait at for work.
///
/// `@unchecked Sendable`: `jobs`, `expected` and `isClosed` are read and written only while the condition's lock is held.
final class JobQueue<Job: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [Job] = []
    private var isClosed = false
    /// How many jobs are on their way.
    private var expected = 0

    /// Adds a job; false if the queue is closed.
    func add(_ job: Job) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { return false }
        jobs.append(job)
        condition.signal()
        return true
    }

    /// Says that a job is on its way; balanced by ``expectNoMore()`` before it is added.
    func expect() {
        condition.lock()
        defer { condition.unlock() }
        expected += 1
    }

    /// Says that a job that was on its way is about to be added, or will not be.
    func expectNoMore() {
        condition.lock()
        defer { condition.unlock() }
        expected -= 1
    }

    /// Waits for jobs and takes them in order. Only for threads of our own: it blocks.
    ///
    /// - Parameters:
    ///   - limit: The most to take.
    ///   - patience: Seconds to wait for jobs that are on their way when there is one to take; 0 takes what is there.
    /// - Returns: At least one job; nil when the queue is closed and empty.
    func take(atMost limit: Int, gatheringFor patience: TimeInterval = 0) -> [Job]? {
        condition.lock()
        defer { condition.unlock() }
        while jobs.isEmpty {
            if isClosed { return nil }
            condition.wait()
        }
        if patience > 0 && expected > 0 {
            let end = Date(timeIntervalSinceNow: patience)
            while expected > 0 && jobs.count < limit && !isClosed && condition.wait(until: end) {}
        }
        let taken = Array(jobs.prefix(limit))
        jobs.removeFirst(taken.count)
        return taken
    }

    /// Refuses further jobs; those that wait are still handed out.
    func close() {
        condition.lock()
        defer { condition.unlock() }
        isClosed = true
        condition.broadcast()
    }
}
