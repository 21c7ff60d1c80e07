internal import Delivery
internal import Foundation
package import IdentityCore
internal import Logging
internal import NIOConcurrencyHelpers
internal import ServerHTTP

/// Queues the engine's messages for the sender and records undelivered messages in the system log. Failed messages are not sent again; the
/// user can request another. Safe from any task.
package final class MessageDelivery: Sendable {
    private let queue: MessageQueue
    private let writer: MessageWriter
    private let clock: any WallClock
    private let logger: Logger
    private let pending = NIOLockedValueBox<[String: (message: OutgoingMessage, engine: Engine)]>([:])

    init(sender: any MessageSender, look: MessageWriter.Look, clock: any WallClock, logger: Logger) {
        writer = MessageWriter(look: look)
        (self.clock, self.logger) = (clock, logger)
        let pending = pending
        let timing = PushTiming(now: { clock.now }, sleep: PushTiming.system.sleep)
        queue = MessageQueue(sender: sender, timing: timing, logger: logger) { message, outcome in
            let sent = pending.withLockedValue { $0.removeValue(forKey: message.id) }
            if let sent { await Self.note(outcome, of: sent.message, engine: sent.engine, clock: clock, logger: logger) }
        }
    }

    /// Enqueues a message and returns at once.
    package func deliver(_ message: OutgoingMessage, of engine: Engine) {
        // Links start with the origin of the cached configuration, which is at least as new as the configuration of the decision.
        guard let origin = engine.latestSnapshot?.origin, let written = writer.message(message, origin: origin) else { return }
        pending.withLockedValue { $0[message.id] = (message, engine) }
        guard !queue.submit(written) else { return }
        pending.withLockedValue { _ = $0.removeValue(forKey: message.id) }
        // Recording the failure must not delay the response.
        Task { [clock, logger] in await Self.note(.dropped, of: message, engine: engine, clock: clock, logger: logger) }
    }

    /// Sends until the task is cancelled, or until ``shutdown()`` was called and the queue is empty.
    func run() async { await queue.run() }

    /// Stops accepting messages.
    func shutdown() { queue.shutdown() }

    private static func note(
        _ outcome: MessageOutcome, of message: OutgoingMessage, engine: Engine, clock: any WallClock, logger: Logger
    ) async {
        if case .delivered = outcome { return }
        do {
            try await engine.noteUndelivered(
                message, reason: outcome.word, context: RequestContext(now: clock.now, requestID: message.origin.requestID))
        } catch {
            logger.error(
                "A message that was not delivered could not be noted", metadata: ["message": "\(message.id)", "error": "\(error)"])
        }
    }
}
