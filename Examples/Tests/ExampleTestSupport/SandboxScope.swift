public import AuthFoundation
public import CountersignSandbox
internal import Foundation

/// Runs a test with a sandbox of its own, which is stopped at the end, and with credentials in a store of their own on its clock.
///
/// - Parameters:
///   - configuration: What the sandbox is made of.
///   - storage: Where the credentials are; by default in memory.
///   - isolation: The actor that the test runs on: the caller's.
///   - body: The test.
/// - Throws: What the test throws, or if no sandbox can be started.
public func withSandbox(
    _ configuration: Sandbox.Configuration = .init(), storage: any TokenStorage = MemoryTokenStorage(),
    isolation: isolated (any Actor)? = #isolation, _ body: (Sandbox) async throws -> Void
) async throws {
    let sandbox = try await Sandbox.start(configuration)
    do {
        try await Credential.withStorage(storage, session: sandbox.transport, clock: sandbox.clock, isolation: isolation) {
            try await body(sandbox)
        }
    } catch {
        await sandbox.stop()
        throw error
    }
    await sandbox.stop()
}

extension Sandbox {
    /// Ends a delay that was injected: moves the clock on once it has begun, and waits until something is true.
    ///
    /// - Parameters:
    ///   - seconds: How long the delay is.
    ///   - isolation: The actor that the condition is asked on: the caller's.
    ///   - condition: What is true when it is over.
    /// - Returns: Whether it became true.
    public func endDelay(
        of seconds: Double, isolation: isolated (any Actor)? = #isolation, until condition: () async -> Bool
    ) async -> Bool {
        guard await eventually({ pendingFaults.isEmpty }) else { return false }
        return await moveOn(by: seconds, until: condition)
    }

    /// Moves the clock on for who waits on it, until something is true: once, and a few times more for who did not wait yet.
    ///
    /// Each step completes before the next one, so that nothing expires on a busy machine.
    ///
    /// - Parameters:
    ///   - seconds: How far each time.
    ///   - isolation: The actor that the condition is asked on: the caller's.
    ///   - condition: What becomes true.
    /// - Returns: Whether it became true.
    public func moveOn(
        by seconds: Double, isolation: isolated (any Actor)? = #isolation, until condition: () async -> Bool
    ) async -> Bool {
        for _ in 0..<4 {
            advance(by: seconds)
            if await eventually(within: .seconds(10), condition) { return true }
        }
        return false
    }
}

/// Waits until something is true that other tasks make true, but not for ever.
///
/// - Parameters:
///   - limit: How long at most.
///   - isolation: The actor that the condition is asked on: the caller's.
///   - condition: What to wait for; asked again and again.
/// - Returns: Whether it became true.
public func eventually(
    within limit: Duration = .seconds(20), isolation: isolated (any Actor)? = #isolation, _ condition: () async -> Bool
) async -> Bool {
    let clock = ContinuousClock()
    let deadline = clock.now.advanced(by: limit)
    while !(await condition()) {
        guard clock.now < deadline, (try? await clock.sleep(for: .milliseconds(10))) != nil else { return false }
    }
    return true
}
