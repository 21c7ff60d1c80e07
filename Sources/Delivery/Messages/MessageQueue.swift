internal import Foundation
package import Logging
package import Metrics

/// Queues messages, so that requests never wait for a mail server or a telephony provider. Each channel has its own queue, so that problems
/// on one channel do not delay the others. Each accepted message is reported to the handler exactly once, before ``run()`` returns. Logs
/// and metrics contain no phone numbers, addresses or codes. Safe from any thread or task.
package final class MessageQueue: Sendable {
    /// Receives the outcome of a message. It is not cancelled with the queue; ``run()`` waits for it.
    package typealias Handler = @Sendable (Message, MessageOutcome) async -> Void

    private let sender: any MessageSender
    private let timing: PushTiming
    private let logger: Logger
    private let counters: [MessageChannel: [String: Counter]]
    private let handler: Handler
    private let queue: DeliveryQueue<MessageChannel, Message>

    /// Creates a queue. Messages can be submitted at once; they are sent while ``run()`` runs.
    /// - Parameters:
    ///   - sender: Not shut down with the queue.
    ///   - capacity: The maximum number of waiting messages for each channel, at least 1.
    ///   - concurrency: The maximum number of concurrent sends for each channel, at least 1.
    ///   - drainTime: The time that sends may continue after ``shutdown()``.
    ///   - timing: The clock of the drain time.
    ///   - metrics: The factory of the counter `countersign_messages_total`.
    ///   - handler: Receives the outcome of each accepted message.
    package init(
        sender: any MessageSender, capacity: Int = 1_000, concurrency: Int = 8, drainTime: Duration = .seconds(5),
        timing: PushTiming = .system, logger: Logger, metrics: any MetricsFactory = MetricsSystem.factory, handler: @escaping Handler
    ) {
        (self.sender, self.timing, self.logger, self.handler) = (sender, timing, logger, handler)
        queue = DeliveryQueue(
            lanes: MessageChannel.allCases, capacity: capacity, concurrency: concurrency, drainTime: drainTime, timing: timing)
        counters = Dictionary(
            uniqueKeysWithValues: MessageChannel.allCases.map { channel in
                // Create every counter now, so that each one is exported with the value 0.
                let pairs = ["delivered", "refused", "gave up", "dropped"].map { word in
                    let dimensions = [("channel", channel.rawValue), ("outcome", word.replacing(" ", with: "_"))]
                    return (word, Counter(label: "countersign_messages_total", dimensions: dimensions, factory: metrics))
                }
                return (channel, Dictionary(uniqueKeysWithValues: pairs))
            })
    }

    /// Queues a message and returns at once. Returns `false` if the queue is full or shut down; then the handler is not called.
    @discardableResult
    package func submit(_ message: Message) -> Bool {
        if queue.submit(message, to: message.channel) { return true }
        note(message, .dropped)
        return false
    }

    /// Sends messages until the queue is shut down and empty, the drain time has passed, or the task is cancelled. Call it once.
    package func run() async {
        await queue.run {
            await self.send($0)
        } drop: {
            await self.ended($0, .dropped)
        }
    }

    /// Stops accepting messages; ``run()`` returns after the remaining ones. Returns at once; idempotent.
    package func shutdown() { queue.shutdown() }

    private func send(_ message: Message) async {
        let isOver = timing.now() >= message.expiresAt
        await ended(message, isOver ? .gaveUp(reason: "expired") : await sender.send(message))
    }

    private func ended(_ message: Message, _ outcome: MessageOutcome) async {
        note(message, outcome)
        // The handler runs in a task of its own, so that cancelling the queue does not interrupt its writes.
        await Task { await handler(message, outcome) }.value
    }

    private func note(_ message: Message, _ outcome: MessageOutcome) {
        counters[message.channel]?[outcome.word]?.increment()
        var metadata: Logger.Metadata = [
            "message": .string(message.id), "channel": .string(message.channel.rawValue), "outcome": .string(outcome.word),
        ]
        switch outcome {
        case .delivered: break
        case .refused(let reason), .gaveUp(let reason): metadata["reason"] = .string(reason)
        case .dropped: metadata["reason"] = "too many wait, or the server stops"
        }
        let isFine = if case .delivered = outcome { true } else { false }
        logger.log(level: isFine ? .debug : .warning, "message ended", metadata: metadata)
    }
}

/// An invalid setting of a mail server or a telephony hook.
package struct MessageConfigurationError: LocalizedError, Sendable, Equatable, CustomStringConvertible {
    /// The problem and its solution.
    package let message: String

    init(_ message: String) { self.message = message }

    package var description: String { message }
    package var errorDescription: String? { message }
}

/// Sends mails with one sender, and texts and calls with another. Safe from any task.
package struct MessageRouter: MessageSender {
    private let mail: (any MessageSender)?
    private let telephone: (any MessageSender)?

    /// Creates a router. Without a sender, messages of that kind are refused. The senders are not shut down with the router.
    package init(mail: (any MessageSender)?, telephone: (any MessageSender)?) {
        self.mail = mail
        self.telephone = telephone
    }

    package func send(_ message: Message) async -> MessageOutcome {
        switch message {
        case .mail: await mail?.send(message) ?? .refused(reason: "no mail server is configured")
        case .telephone: await telephone?.send(message) ?? .refused(reason: "no telephony hook is configured")
        }
    }
}
