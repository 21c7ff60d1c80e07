import AuthFoundation
import Foundation

/// A clock that stands until it is moved. Who waits on it waits until then, or until the task is cancelled.
final class ManualClock: OAuth2Clock {
    private struct State {
        var now = Date(timeIntervalSince1970: 1_800_000_000)
        var sleepers: [Int: (until: Date, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<Int> = []
        var count = 0
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    var now: Date { state.withLock { $0.now } }

    /// How many wait.
    var sleepers: Int { state.withLock { $0.sleepers.count } }

    func sleep(for interval: TimeInterval) async throws {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isCancelled, watchers) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
                    if state.cancelled.contains(number) { return (true, []) }
                    state.sleepers[number] = (state.now.addingTimeInterval(interval), continuation)
                    defer { state.watchers = [] }
                    return (false, state.watchers)
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(number)
                return state.sleepers.removeValue(forKey: number)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Moves the clock on.
    func advance(by interval: TimeInterval) {
        let due = state.withLock { state in
            state.now += interval
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Waits until somebody waits on the clock.
    func sleeper() async {
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                if state.sleepers.isEmpty { state.watchers.append(continuation) }
                return state.sleepers.isEmpty
            }
            if !mustWait { continuation.resume() }
        }
    }
}
