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
    private let engine: Engine
    private let clock: any WallClock
    private let logger: Logger
    private let pending = NIOLockedValueBox<[String: OutgoingMessage]>([:])

    init(sender: any MessageSender, look: MessageWriter.Look, engine: Engine, clock: any WallClock, logger: Logger) {
        writer = MessageWriter(look: look)
        (self.engine, self.clock, self.logger) = (engine, clock, logger)
        let pending = pending
        let timing = PushTiming(now: { clock.now }, sleep: PushTiming.system.sleep)
        queue = MessageQueue(sender: sender, timing: timing, logger: logger) { message, outcome in
            let told = pending.withLockedValue { $0.removeValue(forKey: message.id) }
            if let told { await Self.note(outcome, of: told, engine: engine, clock: clock, logger: logger) }
        }
    }

    /// Enqueues messages and returns at once. Links start with the organization's `origin`.
    package func deliver(_ messages: [OutgoingMessage], origin: String) {
        for message in messages {
            guard let written = writer.message(message, origin: origin) else { continue }
            pending.withLockedValue { $0[message.id] = message }
            guard !queue.submit(written) else { continue }
            pending.withLockedValue { _ = $0.removeValue(forKey: message.id) }
            // Recording the failure must not delay the response.
            Task { [engine, clock, logger] in await Self.note(.dropped, of: message, engine: engine, clock: clock, logger: logger) }
        }
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
