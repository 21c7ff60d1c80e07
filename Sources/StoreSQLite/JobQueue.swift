internal import Foundation

/// Thrown to who adds to a queue that was closed.
struct JobQueueClosed: Error {}

/// What threads of ours wait at for work.
///
/// `@unchecked Sendable`: `jobs` and `isClosed` are read and written only while the condition's lock is held.
final class JobQueue<Job: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [Job] = []
    private var isClosed = false

    /// Adds a job; false if the queue is closed.
    func add(_ job: Job) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { return false }
        jobs.append(job)
        condition.signal()
        return true
    }

    /// Waits for jobs and takes them in order; nil when the queue is closed and empty. Only for threads of our own: it blocks.
    func take(atMost limit: Int) -> [Job]? {
        condition.lock()
        defer { condition.unlock() }
        while jobs.isEmpty {
            if isClosed { return nil }
            condition.wait()
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
