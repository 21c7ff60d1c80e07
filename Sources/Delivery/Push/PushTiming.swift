public import Foundation

/// Time and chance, as pushing needs them.
public struct PushTiming: Sendable {
    /// The time of day.
    public var now: @Sendable () -> Date
    /// Waits; throws `CancellationError` when the task was cancelled meanwhile.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// A number from 0 up to 1 that spreads retries; no secret.
    public var jitter: @Sendable () -> Double

    /// Takes a clock and a source of chance.
    ///
    /// - Parameters:
    ///   - now: The time of day.
    ///   - sleep: Waits for so long; throws `CancellationError` when the task was cancelled meanwhile.
    ///   - jitter: A number from 0 up to 1, another one each time; by default the system's.
    public init(
        now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (Duration) async throws -> Void,
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.now = now
        self.sleep = sleep
        self.jitter = jitter
    }

    /// The system's clock.
    public static let system = PushTiming(now: { Date() }, sleep: { try await Task.sleep(for: $0) })
}
