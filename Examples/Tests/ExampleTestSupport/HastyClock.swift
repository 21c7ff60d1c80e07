public import AuthFoundation
public import CountersignSandbox
public import Foundation

/// The clock of a sandbox, on which every wait is over soon: for what asks a server again and again.
///
/// Who gives up after so many questions, or so many seconds of its own waiting, gives up as much sooner.
public struct HastyClock: OAuth2Clock {
    private let clock: SandboxClock
    private let pause: Duration

    /// A clock for an app at a sandbox.
    ///
    /// - Parameters:
    ///   - sandbox: The sandbox.
    ///   - pause: How long a wait really is.
    public init(_ sandbox: Sandbox, pause: Duration = .milliseconds(50)) {
        clock = sandbox.clock
        self.pause = pause
    }

    /// The sandbox's time.
    public var now: Date { clock.now }

    /// Waits for the pause, whatever was asked for.
    ///
    /// - Parameter interval: Of no meaning.
    /// - Throws: `CancellationError`.
    public func sleep(for interval: TimeInterval) async throws {
        try await Task.sleep(for: pause)
    }
}
