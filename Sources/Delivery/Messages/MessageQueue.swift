internal import Foundation
package import Logging
package import Metrics

/// Holds messages until they can be sent, so that whoever submits them never waits for a mail server or a telephone company.
///
/// Each channel has a queue of its own, so that trouble with one leaves the others alone. Each message that was taken is reported to the
/// handler exactly once, when ``run()`` has returned at the latest. What it logs and counts names no number, no address and no code.
/// `Sendable`; safe from any thread or task.
package final class MessageQueue: Sendable {
    /// Is told how a message ended. Never cancelled with the queue; ``run()`` waits for it.
    package typealias Handler = @Sendable (Message, MessageOutcome) async -> Void

    private let sender: any MessageSender
    private let timing: PushTiming
    private let logger: Logger
    private let counters: [MessageChannel: [String: Counter]]
    private let handler: Handler
    private let queue: DeliveryQueue<MessageChannel, Message>

    /// Makes a queue. Messages can be submitted at once, and are sent when it runs.
    ///
    /// - Parameters:
    ///   - sender: What sends. It is not shut down with the queue.
    ///   - capacity: The most that wait, in each channel, at least 1.
    ///   - concurrency: The most on their way at once, in each channel, at least 1.
    ///   - drainTime: How long they may go on after ``shutdown()``.
    ///   - timing: The clock of the drain time; by default the system's.
    ///   - logger: Where it logs.
    ///   - metrics: Where messages are counted, as `countersign_messages_total`; by default where the process does.
    ///   - handler: Is told how each message ended that was taken.
    package init(
        sender: any MessageSender, capacity: Int = 1_000, concurrency: Int = 8, drainTime: Duration = .seconds(5),
        timing: PushTiming = .system, logger: Logger, metrics: any MetricsFactory = MetricsSystem.factory, handler: @escaping Handler
    ) {
        self.sender = sender
        self.timing = timing
        self.logger = logger
        self.handler = handler
        queue = DeliveryQueue(
            lanes: MessageChannel.allCases, capacity: capacity, concurrency: concurrency, drainTime: drainTime, timing: timing)
        counters = Dictionary(
            uniqueKeysWithValues: MessageChannel.allCases.map { channel in
                // All of them, so that each is seen at 0.
                let pairs = ["delivered", "refused", "gave up", "dropped"].map { word in
                    let dimensions = [("channel", channel.rawValue), ("outcome", word.replacing(" ", with: "_"))]
                    return (word, Counter(label: "countersign_messages_total", dimensions: dimensions, factory: metrics))
                }
                return (channel, Dictionary(uniqueKeysWithValues: pairs))
            })
    }

    /// Takes a message. Never waits: what is full is full.
    ///
    /// - Parameter message: What to send, and to whom.
    /// - Returns: Whether it was taken. If not, the handler is not told.
    @discardableResult
    package func submit(_ message: Message) -> Bool {
        if queue.submit(message, to: message.channel) { return true }
        note(message, .dropped)
        return false
    }

    /// Sends what is submitted, until the queue is shut down and empty, the drain time is over, or the task is cancelled. Call it once.
    package func run() async {
        await queue.run {
            await self.send($0)
        } drop: {
            await self.ended($0, .dropped)
        }
    }

    /// Takes no more, and lets ``run()`` return when it has sent what it has. Returns at once; safe to call again.
    package func shutdown() { queue.shutdown() }

    // MARK: - Running

    private func send(_ message: Message) async {
        let isOver = timing.now() >= message.expiresAt
        await ended(message, isOver ? .gaveUp(reason: "expired") : await sender.send(message))
    }

    private func ended(_ message: Message, _ outcome: MessageOutcome) async {
        note(message, outcome)
        // What the handler writes down must not get lost with the queue: it has a task of its own, which is waited for.
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

/// What is wrong with the settings of a mail server or a telephony hook.
package struct MessageConfigurationError: LocalizedError, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, and what to do about it.
    package let message: String

    init(_ message: String) { self.message = message }

    /// The message.
    package var description: String { message }
    /// The message.
    package var errorDescription: String? { message }
}

/// Sends mails one way, and texts and calls another.
///
/// `Sendable`; safe from any task.
package struct MessageRouter: MessageSender {
    private let mail: (any MessageSender)?
    private let telephone: (any MessageSender)?

    /// Joins two senders, which are not shut down with it.
    ///
    /// - Parameters:
    ///   - mail: Sends mails; nil refuses them.
    ///   - telephone: Sends texts and calls; nil refuses them.
    package init(mail: (any MessageSender)?, telephone: (any MessageSender)?) {
        self.mail = mail
        self.telephone = telephone
    }

    /// Sends a message by the sender of its kind.
    ///
    /// - Parameter message: What to send, and to whom.
    /// - Returns: How it ended.
    package func send(_ message: Message) async -> MessageOutcome {
        switch message {
        case .mail: await mail?.send(message) ?? .refused(reason: "no mail server is configured")
        case .telephone: await telephone?.send(message) ?? .refused(reason: "no telephony hook is configured")
        }
    }
}
