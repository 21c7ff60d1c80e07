package import Foundation

/// The time of day, and waiting by it: the server's only clock.
///
/// The sandbox passes one that it moves by hand; everything that the server says about time follows it, the `Date` header
/// included.
package protocol WallClock: Sendable {
    /// The time of day.
    var now: Date { get }

    /// Waits.
    ///
    /// - Parameter duration: For how long.
    /// - Throws: `CancellationError` when the task was cancelled meanwhile.
    func sleep(for duration: Duration) async throws
}

/// The system's clock.
package struct SystemWallClock: WallClock {
    /// Makes the clock.
    package init() {}

    /// The system's time of day.
    package var now: Date { Date() }

    /// Waits by the system's monotonic clock.
    package func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: duration)
    }
}
