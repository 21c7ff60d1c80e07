public import Foundation

/// A source of the time and of waiting, which an ``OAuth2Client`` takes when it is made.
///
/// Tests and sandboxes give one that they move by hand; then nothing in the client waits for real.
public protocol OAuth2Clock: TimeCoordinator {
    /// Waits.
    ///
    /// - Parameter interval: For how many seconds; zero and less return at once.
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    func sleep(for interval: TimeInterval) async throws
}

extension OAuth2Clock {
    /// The reading itself: the clock is taken to be right.
    public func date(from date: Date) -> Date { date }
}

/// The device's own clock.
public struct DeviceClock: OAuth2Clock {
    /// The device's own clock.
    public init() {}

    /// The time of the device.
    public var now: Date { Date() }

    /// Waits on the device's clock, which goes on while the device sleeps.
    ///
    /// - Parameter interval: For how many seconds; zero and less return at once.
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    public func sleep(for interval: TimeInterval) async throws {
        try Task.checkCancellation()
        guard interval > 0 else { return }
        // A year is more than any wait of ours, and far from the numbers that can't be counted in nanoseconds.
        try await Task.sleep(for: .seconds(min(interval, 365 * 86_400)), clock: .continuous)
    }
}
