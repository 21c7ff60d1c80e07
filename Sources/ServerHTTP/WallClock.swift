package import Foundation

/// The server's only clock. The sandbox passes a manual clock, which everything follows, including the `Date` header.
package protocol WallClock: Sendable {
    var now: Date { get }

    /// Waits; throws `CancellationError` if the task is cancelled.
    func sleep(for duration: Duration) async throws
}

package struct SystemWallClock: WallClock {
    package init() {}

    package var now: Date { Date() }

    /// Waits by the system's monotonic clock.
    package func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: duration)
    }
}
