internal import Foundation

extension Sandbox {
    /// Puts the sandbox back to how it started, so that one test leaves nothing to the next.
    ///
    /// - Users, their passwords and factors, and applications are those of the start. Lockouts and counters are gone.
    /// - Sessions, tokens, sign-ins under way and virtual phones are gone.
    /// - Messages, requests, faults of the server, the outbox and the push gateway are forgotten.
    /// - The clock shows what it would show if nobody had moved it, and the first signing key signs again.
    ///
    /// Ids of users are new, as after a new start.
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
