public import AuthFoundation
public import Foundation

/// A clock that stands still until a test advances it. A sleep ends when its time has come or its task is cancelled.
public final class ManualClock: OAuth2Clock {
    private struct State {
        var now: Date
        var sleepers: [Int: (until: Date, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var watchers: [Int: (sleepers: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
        /// Sleepers and watchers whose task was cancelled.
        var cancelled: Set<Int> = []
        var count = 0

        mutating func number() -> Int {
            count += 1
            return count
        }
    }

    private let state: Locked<State>
    private let skipsWaits: Bool

    /// Creates a clock that shows this time.
    ///
    /// - Parameter skipsWaits: Whether a sleep advances the clock itself instead of waiting for the test.
    public init(_ now: Date = Date(timeIntervalSince1970: 1_800_000_000), skipsWaits: Bool = false) {
        state = Locked(State(now: now))
        self.skipsWaits = skipsWaits
    }

    /// The time that the clock shows.
    public var now: Date { state.withLock { $0.now } }

    /// The remaining times of all sleeps in seconds, in ascending order.
    public var waits: [TimeInterval] {
        state.withLock { state in state.sleepers.values.map { $0.until.timeIntervalSince(state.now) }.sorted() }
    }

    /// Sleeps until the test has advanced the clock by the interval, in seconds.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(for interval: TimeInterval) async throws {
        try Task.checkCancellation()
        guard interval > 0 else { return }
        if skipsWaits {
            state.withLock { $0.now += interval }
            return
        }
        let number = state.withLock { $0.number() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.contains(number) { return true }
                    state.sleepers[number] = (state.now.addingTimeInterval(interval), continuation)
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

    /// Advances the clock by an interval in seconds and ends the sleeps that are due.
    public func advance(by interval: TimeInterval) {
        let due = state.withLock { state in
            state.now += interval
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
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
