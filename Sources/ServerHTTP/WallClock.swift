package import Foundation

/// The server's only clock. The sandbox passes a manual clock, which the whole server follows, including the `Date` header.
package protocol WallClock: Sendable {
    var now: Date { get }

    /// The time that a correction of the wall clock does not change, from any start; `nil` if the clock has none.
    var uptime: Duration? { get }

    /// Waits for a duration. Throws `CancellationError` if the task is cancelled.
    func sleep(for duration: Duration) async throws
}

extension WallClock {
    package var uptime: Duration? { nil }
}

package struct SystemWallClock: WallClock {
    private static let start = ContinuousClock.now

    package init() {}

    package var now: Date { Date() }

    package var uptime: Duration? { Self.start.duration(to: .now) }

    /// Waits for a duration by the system's monotonic clock.
    package func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: duration)
    }
}
