internal import Foundation
internal import NIOConcurrencyHelpers

/// A few threads that serve a bounded queue, in which callers take turns. `@unchecked Sendable` is safe because all state is in `state`,
/// accessed only while `condition` is locked. Jobs run, and continuations are resumed, after the unlock. The threads retain this object,
/// not its owner, and end when the owner stops them.
final class HashingThreads: @unchecked Sendable {
    private struct State {
        var waiting = FairQueue<Job>()
        /// The number of threads, idle or busy.
        var running = 0
        var idle = 0
        var busy = 0
        var isStopped = false
    }

    private struct Job {
        let run: @Sendable () -> Void
        let fail: @Sendable (any Error) -> Void
    }

    private let condition = NSCondition()
    private var state = State()
    private let width: Int
    private let queueLimit: Int

    init(width: Int, queueLimit: Int) {
        self.width = width
        self.queueLimit = queueLimit
    }

    func run<Value: Sendable>(for share: HashingShare = .server, _ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let place = NIOLockedValueBox<Place>(.outside)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let job = Job(
                    run: { continuation.resume(with: Swift.Result { try work() }) },
                    fail: { continuation.resume(throwing: $0) })
                guard let id = enqueue(job, for: share) else {
                    continuation.resume(throwing: PasswordHasher.Overloaded())
                    return
                }
                let wasCancelled = place.withLockedValue { place in
                    defer { place = .queued(id) }
                    return place == .cancelled
                }
                if wasCancelled { withdraw(id) }
            }
        } onCancel: {
            let queued: Int? = place.withLockedValue { place in
                defer { place = .cancelled }
                if case .queued(let id) = place { return id }
                return nil
            }
            if let queued { withdraw(queued) }
        }
    }

    /// Ends the threads after their current jobs, and cancels waiting jobs.
    func stop() {
        condition.lock()
        state.isStopped = true
        let abandoned = state.waiting.removeAll()
        condition.broadcast()
        condition.unlock()
        for job in abandoned { job.fail(CancellationError()) }
    }

    private enum Place: Equatable {
        case outside, queued(Int), cancelled
    }

    var waitingCount: Int {
        condition.lock()
        defer { condition.unlock() }
        return state.waiting.count
    }

    private func enqueue(_ job: Job, for share: HashingShare) -> Int? {
        condition.lock()
        guard !state.isStopped, let (id, displaced) = state.waiting.append(job, for: share, limit: width + queueLimit - state.busy) else {
            condition.unlock()
            return nil
        }
        if state.idle >= state.waiting.count {
            condition.signal()
        } else if state.running < width {
            state.running += 1
            let thread = Thread { [self] in work() }
            thread.name = "password-hashing"
            thread.start()
        }
        condition.unlock()
        displaced?.fail(PasswordHasher.Overloaded())
        return id
    }

    private func withdraw(_ id: Int) {
        condition.lock()
        let job = state.waiting.remove(id)
        condition.unlock()
        job?.fail(CancellationError())
    }

    private func work() {
        var finished = 0
        while let job = next(finished) {
            job.run()
            finished = 1
        }
    }

    private func next(_ finished: Int) -> Job? {
        condition.lock()
        defer { condition.unlock() }
        state.busy -= finished
        state.idle += 1
        while state.waiting.isEmpty && !state.isStopped { condition.wait() }
        state.idle -= 1
        guard let job = state.waiting.next() else {
            state.running -= 1
            return nil
        }
        state.busy += 1
        return job
    }
}
