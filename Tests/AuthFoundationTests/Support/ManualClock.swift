import Foundation

@testable import AuthFoundation

/// A clock that stands still until a test moves it.
final class ManualClock: OAuth2Clock {
    private struct State {
        var now: Date
        var sleepers: [Int: (until: Date, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<Int> = []
        var count = 0
        var watchers: [(sleepers: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Locked<State>
    private let skipsWaits: Bool

    /// - Parameter skipsWaits: Whether a sleep moves the clock itself instead of waiting for the test to do it.
    init(_ now: Date = Date(timeIntervalSince1970: 1_800_000_000), skipsWaits: Bool = false) {
        state = Locked(State(now: now))
        self.skipsWaits = skipsWaits
    }

    var now: Date { state.withLock { $0.now } }

    /// How long the sleepers still have to sleep, shortest first.
    var waits: [TimeInterval] {
        state.withLock { state in state.sleepers.values.map { $0.until.timeIntervalSince(state.now) }.sorted() }
    }

    func sleep(for interval: TimeInterval) async throws {
        guard interval > 0 else { return }
        if skipsWaits {
            try Task.checkCancellation()
            state.withLock { $0.now += interval }
            return
        }
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
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

    func advance(by interval: TimeInterval) {
        let due = state.withLock { state in
            state.now += interval
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Waits until so many tasks sleep on this clock.
    func sleepers(_ count: Int) async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.watchers.append((count, continuation)) }
            wakeWatchers()
        }
    }

    private func wakeWatchers() {
        let ready = state.withLock { state in
            let ready = state.watchers.filter { $0.sleepers <= state.sleepers.count }
            state.watchers.removeAll { $0.sleepers <= state.sleepers.count }
            return ready
        }
        for watcher in ready { watcher.continuation.resume() }
    }
}
