internal import Foundation
package import Logging
package import Metrics

/// Queues messages, so that requests never wait for a mail server or a telephony provider. Each channel has its own queue, so that problems
/// on one channel do not delay the others. Each accepted message is reported to the handler exactly once, before ``run()`` returns. Logs
/// and metrics contain no phone numbers, addresses or codes. Safe from any thread or task.
package final class MessageQueue: Sendable {
    /// A function that receives the outcome of a message. It is not cancelled with the queue: ``run()`` waits for it.
    package typealias Handler = @Sendable (Message, MessageOutcome) async -> Void

    private let sender: any MessageSender
    private let timing: PushTiming
    private let logger: Logger
    private let counters: OutcomeCounters
    private let handler: Handler
    private let queue: DeliveryQueue<MessageChannel, Message>

    /// Creates a queue. Messages can be submitted at once; they are sent while ``run()`` runs.
    /// - Parameters:
    ///   - sender: The sender. The queue does not shut it down.
    ///   - capacity: The maximum number of waiting messages for each channel, at least 1.
    ///   - concurrency: The maximum number of concurrent sends for each channel, at least 1.
    ///   - drainTime: The maximum time for which sends continue after ``shutdown()``.
    ///   - timing: The clock of the drain time and of the expiry of messages.
    ///   - metrics: The factory of the counter `countersign_messages_total`.
    ///   - handler: Receives the outcome of each accepted message.
    package init(
        sender: any MessageSender, capacity: Int = 1_000, concurrency: Int = 8, drainTime: Duration = .seconds(5),
        timing: PushTiming = .system, logger: Logger, metrics: any MetricsFactory = MetricsSystem.factory, handler: @escaping Handler
    ) {
        (self.sender, self.timing, self.logger, self.handler) = (sender, timing, logger, handler)
        queue = DeliveryQueue(
            lanes: MessageChannel.allCases, capacity: capacity, concurrency: concurrency, drainTime: drainTime, timing: timing)
        counters = OutcomeCounters(
            "countersign_messages_total", lane: "channel", lanes: MessageChannel.allCases.map(\.rawValue),
            outcomes: ["delivered", "refused", "gave up", "dropped"], factory: metrics)
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

    /// Stops accepting messages, and returns at once. ``run()`` returns after the remaining messages, or after the drain time. Idempotent.
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
        counters.count(outcome.word, in: message.channel.rawValue)
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

    /// Creates a router. If a sender is `nil`, messages of its kind are refused. The router does not shut down the senders.
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

/// The outcome of a message or a push that is sent in several attempts.
protocol RetriedOutcome: Sendable {
    static func gaveUp(reason: String) -> Self
}

extension MessageOutcome: RetriedOutcome {}
extension PushOutcome: RetriedOutcome {}

/// The result of one attempt to send a message or a push.
enum SendTry<Outcome: RetriedOutcome>: Sendable {
    /// The final outcome.
    case ended(Outcome)
    /// The next attempt follows at once.
    case again
    /// A temporary failure; a later attempt may succeed.
    case retry(reason: String, after: Duration?)
}

/// Repeats attempts until one has a final outcome or the attempts run out.
struct RepeatedTries: Sendable {
    let retry: RetryPolicy
    let timing: PushTiming
    /// A function that is called before each pause, with the reason of the failure.
    var willPause: @Sendable (_ reason: String, _ pause: Duration) -> Void = { _, _ in }

    /// Repeats `attempt` and returns the final outcome. No attempt starts after `expiresAt`.
    func run<Outcome: RetriedOutcome>(until expiresAt: Date, _ attempt: () async -> SendTry<Outcome>) async -> Outcome {
        var last: String?
        var tries = 0
        func gaveUp(_ what: String) -> Outcome { .gaveUp(reason: last.map { "\(what), after \($0)" } ?? what) }
        while !Task.isCancelled {
            guard timing.now() < expiresAt else { return gaveUp("expired") }
            tries += 1
            switch await attempt() {
            case .ended(let outcome): return outcome
            case .again: continue
            case .retry(let reason, let after):
                last = reason
                guard let pause = retry.pause(afterTries: tries, retryAfter: after, jitter: timing.jitter()) else {
                    return gaveUp("too many tries")
                }
                guard timing.now().addingTimeInterval(pause / .seconds(1)) < expiresAt else { return gaveUp("expires before the next try") }
                willPause(reason, pause)
                guard (try? await timing.sleep(pause)) != nil else { return gaveUp("cancelled") }
            }
        }
        return gaveUp("cancelled")
    }
}
