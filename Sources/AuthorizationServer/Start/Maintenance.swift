internal import IdentityCore
internal import Logging
internal import ServerHTTP

/// Rotates signing keys and removes expired records, at start and then at an interval by the server's clock.
struct Maintenance: Sendable {
    let engine: Engine
    let clock: any WallClock
    let logger: Logger
    let identifiers: RequestIdentifiers
    let interval: Duration

    /// Rows removed per transaction; a small number, so that requests do not wait long.
    private static let batch = 500

    /// Runs until the task is cancelled. Logs failures and retries in the next round.
    func run() async {
        while !Task.isCancelled {
            await round()
            do {
                try await clock.sleep(for: interval)
            } catch {
                return
            }
        }
    }

    private func round() async {
        let context = RequestContext(now: clock.now, requestID: identifiers.next())
        do {
            for change in try await engine.maintainKeys(context) {
                logger.notice("signing key changed", metadata: ["key": .string(change.keyID), "action": .string("\(change.action)")])
            }
            var removed = 0
            var last = Self.batch
            while last == Self.batch, !Task.isCancelled {
                last = try await engine.removeExpired(now: context.now, limit: Self.batch)
                removed += last
            }
            if removed > 0 { logger.info("expired records removed", metadata: ["count": .stringConvertible(removed)]) }
        } catch {
            logger.error("maintenance failed; it is tried again", metadata: ["error": .string("\(error)")])
        }
    }
}
