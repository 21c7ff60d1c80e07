import Foundation
import NIOConcurrencyHelpers
import ServerHTTP

/// A clock that stands still until the test moves it, and then wakes the tasks that are due.
final class SteppingClock: WallClock {
    private struct Sleeper {
        let end: Date
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// The clock's time, for helpers that need this type.
    let time = TestClock()
    private let sleepers = NIOLockedValueBox<[UUID: Sleeper]>([:])

    var now: Date { time.now }

    func sleep(for duration: Duration) async throws {
        let id = UUID()
        let parts = duration.components
        let end = now.addingTimeInterval(TimeInterval(parts.seconds) + TimeInterval(parts.attoseconds) * 1e-18)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = sleepers.withLockedValue { sleepers in
                    guard !Task.isCancelled else { return true }
                    sleepers[id] = Sleeper(end: end, continuation: continuation)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = sleepers.withLockedValue { $0.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Advances the clock as soon as a task sleeps for at most a quarter of a second, as the task that watches held polls does.
    func advance(by seconds: TimeInterval) async {
        while !isWatched { await Task.yield() }
        time.advance(by: seconds)
        let now = now
        wake { $0.end <= now }
    }

    /// Sets the clock back and wakes all sleeping tasks, because a sleep ends by its duration and not by the time of day.
    func setBack(by seconds: TimeInterval) async {
        while !isWatched { await Task.yield() }
        time.advance(by: -seconds)
        wake { _ in true }
    }

    private func wake(_ isDue: (Sleeper) -> Bool) {
        let due = sleepers.withLockedValue { sleepers in
            let due = sleepers.filter { isDue($0.value) }
            for id in due.keys { sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    private var isWatched: Bool {
        let limit = now.addingTimeInterval(0.25)
        return sleepers.withLockedValue { $0.values.contains { $0.end <= limit } }
    }
}
