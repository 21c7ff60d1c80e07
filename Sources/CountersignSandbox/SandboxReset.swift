internal import Foundation

extension Sandbox {
    /// Resets the sandbox to its initial state, so that tests do not affect each other.
    ///
    /// - Users, passwords, factors and applications have their initial values. Lockouts and counters are cleared.
    /// - Sessions, tokens, pending sign-ins and virtual phones are removed.
    /// - Messages, requests, and the faults of the server, the outbox and the push gateway are deleted.
    /// - All changes of the clock are undone, and the first signing key signs again.
    ///
    /// Users get new ids, as after a restart.
    ///
    /// - Throws: If the store failed.
    public func reset() async throws {
        await phones.reset()
        pushGateway.forget()
        faults.clear()
        clock.reset()
        keys.startOver()
        try await organization.reset(making: { [keys] in try keys.make($0) })
        apps.reset()
        tokens.reset()
        outbox.reset()
        log.clear()
    }
}
