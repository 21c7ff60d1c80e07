public import AuthFoundation
public import CountersignSandbox
internal import Foundation

/// Runs a test with its own sandbox, which is stopped at the end, and with its own credential store on the sandbox's clock.
///
/// - Parameters:
///   - configuration: The configuration of the sandbox.
///   - storage: The credential storage; by default in memory.
///   - isolation: The actor of the test; by default the caller's actor.
///   - body: The test.
/// - Throws: The errors of the test and of the sandbox's start.
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
    /// Ends an injected delay: advances the clock once the delay has begun, and waits until a condition is true.
    ///
    /// - Parameters:
    ///   - seconds: The length of the delay.
    ///   - isolation: The actor of the condition; by default the caller's actor.
    ///   - condition: The condition that is true after the delay.
    /// - Returns: Whether the condition became true.
    public func endDelay(
        of seconds: Double, isolation: isolated (any Actor)? = #isolation, until condition: () async -> Bool
    ) async -> Bool {
        guard await eventually({ pendingFaults.isEmpty }) else { return false }
        return await moveOn(by: seconds, until: condition)
    }

    /// Advances the clock until a condition is true: once, and up to three more times for callers that did not wait yet.
    ///
    /// Each step completes before the next step, so that nothing expires on a busy machine.
    ///
    /// - Parameters:
    ///   - seconds: The advance per step.
    ///   - isolation: The actor of the condition; by default the caller's actor.
    /// - Returns: Whether the condition became true.
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

/// Waits until other tasks make a condition true, or until the limit has passed.
///
/// - Parameters:
///   - limit: The maximum wait.
///   - isolation: The actor of the condition; by default the caller's actor.
///   - condition: The condition, which is checked repeatedly.
/// - Returns: Whether the condition became true.
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
