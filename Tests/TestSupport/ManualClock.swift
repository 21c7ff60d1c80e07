public import AuthFoundation
public import Foundation

/// A clock that stands still until a test advances it.
public final class ManualClock: OAuth2Clock {
    /// The event that ends a sleep. Every sleep also ends when its task is cancelled.
    public enum Sleeps: Sendable {
        /// A sleep ends when the test has advanced the clock to its end.
        case untilDue
        /// A sleep ends at once, and advances the clock by its duration.
        case skipped
        /// A sleep ends only when its task is cancelled.
        case untilCancelled
    }

    private struct State {
        var now: Date
        var sleepers: [Int: (until: Date, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var watchers: [Int: (sleepers: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
        /// Sleepers and watchers whose task was cancelled.
        var cancelled: Set<Int> = []
        var count = 0
        /// The durations of the skipped sleeps, in seconds.
        var skipped: [TimeInterval] = []
        var action: (@Sendable () -> Void)?

        mutating func number() -> Int {
            count += 1
            return count
        }
    }

    /// 2027-01-15, a Friday.
    public static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private let state: Locked<State>
    private let sleeps: Sleeps

    /// Creates a clock that shows this time.
    public init(_ now: Date = start, sleeps: Sleeps = .untilDue) {
        state = Locked(State(now: now))
        self.sleeps = sleeps
    }

    /// The time that the clock shows.
    public var now: Date { state.withLock { $0.now } }

    /// The waits in seconds. With ``Sleeps/skipped``, these are the durations of all sleeps so far, in their order; otherwise the remaining
    /// times of the current sleeps, in ascending order.
    public var waits: [TimeInterval] {
        state.withLock { state in
            sleeps == .skipped ? state.skipped : state.sleepers.values.map { $0.until.timeIntervalSince(state.now) }.sorted()
        }
    }

    /// Sets an action that runs before each skipped sleep.
    public func atSleep(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.action = action } }

    /// Sleeps for an interval in seconds. ``Sleeps`` determines the end of the sleep.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(for interval: TimeInterval) async throws {
        if sleeps == .skipped { return try skip(interval) }
        try Task.checkCancellation()
        guard interval > 0 else { return }
        let number = state.withLock { $0.number() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.contains(number) { return true }
                    state.sleepers[number] = (sleeps == .untilDue ? state.now + interval : .distantFuture, continuation)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                wakeWatchers()
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(number)
                return state.sleepers.removeValue(forKey: number)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func skip(_ interval: TimeInterval) throws {
        state.withLock { $0.action }?()
        try Task.checkCancellation()
        state.withLock { state in
            state.now += interval
            state.skipped.append(interval)
        }
    }

    /// Advances the clock by an interval in seconds.
    ///
    /// - Parameter wakes: Whether the sleeps that are due end now. Otherwise they end at the next call with `wakes`.
    public func advance(by interval: TimeInterval, wakes: Bool = true) {
        let due = state.withLock { state in
            state.now += interval
            guard wakes else { return [CheckedContinuation<Void, any Error>]() }
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Sets the clock back by an interval in seconds. The remaining times of the sleeps do not change.
    public func setBack(by interval: TimeInterval) {
        state.withLock { state in
            state.now -= interval
            for number in state.sleepers.keys { state.sleepers[number]?.until -= interval }
        }
    }

    /// Waits until this number of tasks sleep on the clock, or until the task is cancelled.
    public func sleepers(_ count: Int) async {
        let number = state.withLock { $0.number() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.contains(number) { return true }
                    state.watchers[number] = (count, continuation)
                    return false
                }
                if isCancelled { continuation.resume() }
                wakeWatchers()
            }
        } onCancel: {
            let watcher = state.withLock { state in
                state.cancelled.insert(number)
                return state.watchers.removeValue(forKey: number)
            }
            watcher?.continuation.resume()
        }
    }

    private func wakeWatchers() {
        let ready = state.withLock { state in
            let ready = state.watchers.filter { $0.value.sleepers <= state.sleepers.count }
            for number in ready.keys { state.watchers[number] = nil }
            return ready.values.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }
}
