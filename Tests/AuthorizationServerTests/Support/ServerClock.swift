import Foundation
import ServerHTTP
import TestSupport

extension ManualClock: WallClock {
    package func sleep(for duration: Duration) async throws {
        let parts = duration.components
        try await sleep(for: TimeInterval(parts.seconds) + TimeInterval(parts.attoseconds) * 1e-18)
    }

    /// Waits until a task sleeps for at most a quarter of a second, as the task that watches held polls does, and then advances the clock.
    func advanceOnceWatched(by seconds: TimeInterval) async {
        while !isWatched { await Task.yield() }
        advance(by: seconds)
    }

    /// Waits as ``advanceOnceWatched(by:)`` does, and then sets the clock back and ends the sleep.
    func setBackOnceWatched(by seconds: TimeInterval) async {
        while !isWatched { await Task.yield() }
        setBack(by: seconds)
        advance(by: 0.25)
    }

    /// Whether the watching task sleeps. An overdue sleep is that of another task.
    private var isWatched: Bool { waits.contains { 0 < $0 && $0 <= 0.25 } }
}
