internal import Delivery
internal import Foundation
package import IdentityCore
internal import Logging
internal import NIOConcurrencyHelpers
internal import ServerHTTP

/// Hands the engine's messages to whoever carries them, and has the system log tell of those that were not delivered.
///
/// Nobody waits for it: a person whose message does not arrive asks for another. Safe from any task.
package final class MessageDelivery: Sendable {
    private let queue: MessageQueue
    private let writer: MessageWriter
    private let engine: Engine
    private let clock: any WallClock
    private let logger: Logger
    private let pending = NIOLockedValueBox<[String: OutgoingMessage]>([:])

    init(sender: any MessageSender, look: MessageWriter.Look, engine: Engine, clock: any WallClock, logger: Logger) {
        writer = MessageWriter(look: look)
        self.engine = engine
        self.clock = clock
        self.logger = logger
        let pending = pending
        let timing = PushTiming(now: { clock.now }, sleep: PushTiming.system.sleep)
        queue = MessageQueue(sender: sender, timing: timing, logger: logger) { message, outcome in
            let told = pending.withLockedValue { $0.removeValue(forKey: message.id) }
            if let told { await Self.note(outcome, of: told, engine: engine, clock: clock, logger: logger) }
        }
    }

    /// Sends some time soon. Returns at once.
    ///
    /// - Parameters:
    ///   - messages: What is to be told, and to whom.
    ///   - origin: The organization's, which links begin with.
    package func deliver(_ messages: [OutgoingMessage], origin: String) {
        for message in messages {
            guard let written = writer.message(message, origin: origin) else { continue }
            pending.withLockedValue { $0[message.id] = message }
            guard !queue.submit(written) else { continue }
            pending.withLockedValue { _ = $0.removeValue(forKey: message.id) }
            // Not worth holding up the answer for.
            Task { [engine, clock, logger] in await Self.note(.dropped, of: message, engine: engine, clock: clock, logger: logger) }
        }
    }

    /// Sends until the task is cancelled or ``shutdown()`` is called, and what was taken is sent.
    func run() async { await queue.run() }

    /// Takes no more.
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
