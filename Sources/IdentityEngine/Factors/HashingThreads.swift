internal import Foundation

/// A few threads that work off a bounded queue.
///
/// `@unchecked Sendable`: all state is in `state`, touched only while `condition` is locked. Jobs run, and continuations
/// are resumed, after it was unlocked. The threads hold this object, not its owner, and end when the owner stops them.
final class HashingThreads: @unchecked Sendable {
    private struct State {
        var waiting: [(id: Int, job: Job)] = []
        var nextID = 0
        /// Threads that exist, of which some wait for work and some are at it.
        var running = 0
        var idle = 0
        var busy = 0
        var isStopped = false
    }

    private struct Job {
        let run: @Sendable () -> Void
        let cancel: @Sendable () -> Void
    }

    private let condition = NSCondition()
    private var state = State()
    private let width: Int
    private let queueLimit: Int

    init(width: Int, queueLimit: Int) {
        self.width = width
        self.queueLimit = queueLimit
    }

    /// Runs work on one of the threads.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let place = Locked<Place>(.outside)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let job = Job(
                    run: { continuation.resume(with: Swift.Result { try work() }) },
                    cancel: { continuation.resume(throwing: CancellationError()) })
                guard let id = enqueue(job) else {
                    continuation.resume(throwing: PasswordHasher.Overloaded())
                    return
                }
                let wasCancelled = place.withLock { place in
                    defer { place = .queued(id) }
                    return place == .cancelled
                }
                if wasCancelled { withdraw(id) }
            }
        } onCancel: {
            let queued: Int? = place.withLock { place in
                defer { place = .cancelled }
                if case .queued(let id) = place { return id }
                return nil
            }
            if let queued { withdraw(queued) }
        }
    }

    /// Ends the threads after what they are at; what waits is cancelled.
    func stop() {
        condition.lock()
        state.isStopped = true
        let abandoned = state.waiting
        state.waiting = []
        condition.broadcast()
        condition.unlock()
        for entry in abandoned { entry.job.cancel() }
    }

    private enum Place: Equatable {
        case outside, queued(Int), cancelled
    }

    private func enqueue(_ job: Job) -> Int? {
        condition.lock()
        defer { condition.unlock() }
        guard !state.isStopped, state.busy + state.waiting.count < width + queueLimit else { return nil }
        let id = state.nextID
        state.nextID += 1
        state.waiting.append((id, job))
        if state.idle >= state.waiting.count {
            condition.signal()
        } else if state.running < width {
            state.running += 1
            let thread = Thread { [self] in work() }
            thread.name = "password-hashing"
            thread.start()
        }
        return id
    }

    private func withdraw(_ id: Int) {
        condition.lock()
        let index = state.waiting.firstIndex { $0.id == id }
        let entry = index.map { state.waiting.remove(at: $0) }
        condition.unlock()
        entry?.job.cancel()
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
        guard !state.waiting.isEmpty else {
            state.running -= 1
            return nil
        }
        state.busy += 1
        return state.waiting.removeFirst().job
    }
}
