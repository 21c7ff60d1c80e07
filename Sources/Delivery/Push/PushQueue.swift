package import Foundation
package import Logging
package import Metrics

/// Queues pushes, so that requests never wait for a push service.
///
/// ```swift
/// let queue = PushQueue(sender: sender, logger: logger) { push, outcome in
///     if case .tokenDead(let since) = outcome { await devices.forgetToken(of: push, since: since) }
/// }
/// async let running: Void = queue.run()
/// queue.submit(push)
/// queue.shutdown()
/// await running
/// ```
/// Each environment has its own queue, so that problems in one do not delay the other. Each accepted push is reported to the handler
/// exactly once, before ``run()`` returns. Safe from any thread or task.
package final class PushQueue: Sendable {
    /// The limits of a queue, for each push environment (production, development) separately.
    package struct Configuration: Sendable, Hashable {
        /// The maximum number of waiting pushes, at least 1.
        package var capacity: Int
        /// The maximum number of concurrent sends, at least 1. A push that waits for a retry counts.
        package var concurrency: Int
        /// The maximum time for which sends continue after ``PushQueue/shutdown()``.
        package var drainTime: Duration

        /// Creates the limits. With the default concurrency, other pushes can be sent while a few wait for a retry.
        package init(capacity: Int = 1000, concurrency: Int = 32, drainTime: Duration = .seconds(5)) {
            self.capacity = max(capacity, 1)
            self.concurrency = max(concurrency, 1)
            self.drainTime = drainTime
        }
    }

    /// A function that receives the outcome of a push. It is not cancelled with the queue: ``run()`` waits for it.
    package typealias Handler = @Sendable (PushNotification, PushOutcome) async -> Void

    private let sender: any PushSender
    private let log: PushLog
    private let counters: OutcomeCounters
    private let handler: Handler
    private let queue: DeliveryQueue<PushEnvironment, PushNotification>

    /// Creates a queue. Pushes can be submitted at once; they are sent while ``run()`` runs.
    /// - Parameters:
    ///   - sender: The sender. The queue does not shut it down.
    ///   - timing: The clock of the drain time.
    ///   - logger: The logger for dropped pushes. The sender logs the other pushes.
    ///   - metrics: The factory of the counter `countersign_pushes_total`.
    ///   - handler: Receives the outcome of each accepted push.
    package init(
        sender: any PushSender, configuration: Configuration = Configuration(), timing: PushTiming = .system, logger: Logger,
        metrics: any MetricsFactory = MetricsSystem.factory, handler: @escaping Handler
    ) {
        self.sender = sender
        log = PushLog(logger: logger)
        counters = OutcomeCounters(
            "countersign_pushes_total", lane: "environment", lanes: PushEnvironment.allCases.map(\.rawValue),
            outcomes: ["delivered", "token dead", "refused", "gave up", "dropped"], factory: metrics)
        self.handler = handler
        queue = DeliveryQueue(
            lanes: PushEnvironment.allCases, capacity: configuration.capacity, concurrency: configuration.concurrency,
            drainTime: configuration.drainTime, timing: timing)
    }

    /// Queues a push and returns at once. Returns `false` if the queue is full or shut down; then the handler is not called.
    @discardableResult
    package func submit(_ notification: PushNotification) -> Bool {
        if queue.submit(notification, to: notification.environment) { return true }
        note(notification, .dropped)
        return false
    }

    /// Sends pushes until the queue is shut down and empty, the drain time has passed, or the task is cancelled. Call it once. When the
    /// drain time has passed or the task is cancelled, sends in progress give up and the remaining pushes are dropped.
    package func run() async {
        await queue.run {
            await self.ended($0, await self.sender.send($0))
        } drop: {
            await self.ended($0, .dropped)
        }
    }

    /// Stops accepting pushes, and returns at once. ``run()`` returns after the remaining pushes, or after the drain time. Idempotent.
    package func shutdown() { queue.shutdown() }

    private func ended(_ push: PushNotification, _ outcome: PushOutcome) async {
        note(push, outcome)
        // The handler runs in a task of its own, so that cancelling the queue does not interrupt its writes.
        await Task { await handler(push, outcome) }.value
    }

    private func note(_ push: PushNotification, _ outcome: PushOutcome) {
        counters.count(outcome.word, in: push.environment.rawValue)
        // The sender logs the other outcomes.
        if outcome == .dropped { log.ended(push, outcome) }
    }
}

/// The clock and the random source of senders and queues.
package struct PushTiming: Sendable {
    package var now: @Sendable () -> Date
    /// Waits for a duration. Throws `CancellationError` if the task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// A generator of numbers from 0 up to 1, with which retries are spread. The numbers need not be unpredictable.
    package var jitter: @Sendable () -> Double

    package init(
        now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (Duration) async throws -> Void,
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        (self.now, self.sleep, self.jitter) = (now, sleep, jitter)
    }

    package static let system = PushTiming(now: { Date() }, sleep: { try await Task.sleep(for: $0) })
}
