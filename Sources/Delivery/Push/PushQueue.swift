package import Foundation
package import Logging
package import Metrics

/// Holds pushes until they can be sent, so that whoever submits them never waits for a push service.
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
///
/// Each environment has a queue of its own and so many pushes on their way at once, so that trouble with one leaves the other alone. Each push that
/// was taken is reported to the handler exactly once, when ``run()`` has returned at the latest. `Sendable`; safe from any thread or task.
package final class PushQueue: Sendable {
    /// How much a queue holds and does at once.
    package struct Configuration: Sendable, Hashable {
        /// The most pushes that wait, in each environment.
        package var capacity: Int
        /// The most pushes on their way at once, in each environment; one that pauses before it is tried again counts.
        package var concurrency: Int
        /// How long pushes may go on after ``PushQueue/shutdown()``.
        package var drainTime: Duration

        /// Sets the limits.
        ///
        /// - Parameters:
        ///   - capacity: The most pushes that wait, in each environment, at least 1; by default 1,000.
        ///   - concurrency: The most pushes on their way at once, in each environment, at least 1; by default 32: they share a connection, and
        ///     a few that are told to come again later must not hold up the rest.
        ///   - drainTime: How long pushes may go on after the shutdown; by default 5 seconds.
        package init(capacity: Int = 1000, concurrency: Int = 32, drainTime: Duration = .seconds(5)) {
            self.capacity = max(capacity, 1)
            self.concurrency = max(concurrency, 1)
            self.drainTime = drainTime
        }
    }

    /// Is told how a push ended. Never cancelled with the queue; ``run()`` waits for it.
    package typealias Handler = @Sendable (PushNotification, PushOutcome) async -> Void

    private let sender: any PushSender
    private let log: PushLog
    private let metrics: PushMetrics
    private let handler: Handler
    private let queue: DeliveryQueue<PushEnvironment, PushNotification>

    /// Makes a queue. Pushes can be submitted at once, and are sent when it runs.
    ///
    /// - Parameters:
    ///   - sender: What sends. It is not shut down with the queue.
    ///   - configuration: The limits.
    ///   - timing: The clock of the drain time; by default the system's.
    ///   - logger: Where pushes that were never tried are logged; the sender logs the others.
    ///   - metrics: Where pushes are counted; by default where the process does.
    ///   - handler: Is told how each push ended that was taken.
    package init(
        sender: any PushSender, configuration: Configuration = Configuration(), timing: PushTiming = .system, logger: Logger,
        metrics: any MetricsFactory = MetricsSystem.factory, handler: @escaping Handler
    ) {
        self.sender = sender
        log = PushLog(logger: logger)
        self.metrics = PushMetrics(factory: metrics)
        self.handler = handler
        queue = DeliveryQueue(
            lanes: PushEnvironment.allCases, capacity: configuration.capacity, concurrency: configuration.concurrency,
            drainTime: configuration.drainTime, timing: timing)
    }

    /// Takes a push. Never waits: what is full is full.
    ///
    /// - Parameter notification: What to send, and to whom.
    /// - Returns: Whether it was taken. If not, because the queue is full or was shut down, the handler is not told.
    @discardableResult
    package func submit(_ notification: PushNotification) -> Bool {
        if queue.submit(notification, to: notification.environment) { return true }
        noteDropped(notification)
        return false
    }

    /// Sends what is submitted, until the queue is shut down and empty, the drain time is over, or the task is cancelled. Call it once.
    ///
    /// At the end of the drain time, and when it is cancelled, pushes on their way give up, and those that were not yet tried are dropped.
    package func run() async {
        await queue.run {
            await self.send($0)
        } drop: { push in
            self.noteDropped(push)
            await self.tell(push, .dropped)
        }
    }

    /// Takes no more pushes, and lets ``run()`` return when it has sent those that it has. Returns at once; safe to call again.
    package func shutdown() { queue.shutdown() }

    // MARK: - Running

    private func send(_ push: PushNotification) async {
        let outcome = await sender.send(push)
        metrics.record(outcome, push.environment)
        await tell(push, outcome)
    }

    private func noteDropped(_ push: PushNotification) {
        metrics.record(.dropped, push.environment)
        log.ended(push, .dropped)
    }

    /// What the handler writes down must not get lost with the queue: it has a task of its own, which is waited for.
    private func tell(_ push: PushNotification, _ outcome: PushOutcome) async {
        await Task { await handler(push, outcome) }.value
    }
}

/// Time and chance, as pushing needs them.
package struct PushTiming: Sendable {
    /// The time of day.
    package var now: @Sendable () -> Date
    /// Waits; throws `CancellationError` when the task was cancelled meanwhile.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// A number from 0 up to 1 that spreads retries; no secret.
    package var jitter: @Sendable () -> Double

    /// Takes a clock and a source of chance.
    ///
    /// - Parameters:
    ///   - now: The time of day.
    ///   - sleep: Waits for so long; throws `CancellationError` when the task was cancelled meanwhile.
    ///   - jitter: A number from 0 up to 1, another one each time; by default the system's.
    package init(
        now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (Duration) async throws -> Void,
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.now = now
        self.sleep = sleep
        self.jitter = jitter
    }

    /// The system's clock.
    package static let system = PushTiming(now: { Date() }, sleep: { try await Task.sleep(for: $0) })
}

/// Counts pushes by environment and outcome: `countersign_pushes_total`. No label names a device, an app or a person.
struct PushMetrics: Sendable {
    private enum Name: String, CaseIterable {
        case delivered, tokenDead = "token_dead", refused, gaveUp = "gave_up", dropped

        init(_ outcome: PushOutcome) {
            switch outcome {
            case .delivered: self = .delivered
            case .tokenDead: self = .tokenDead
            case .refused: self = .refused
            case .gaveUp: self = .gaveUp
            case .dropped: self = .dropped
            }
        }
    }

    private let counters: [PushEnvironment: [Name: Counter]]

    /// Makes the counters, all of them, so that each is seen at 0.
    init(factory: any MetricsFactory) {
        let pairs = PushEnvironment.allCases.map { environment in
            let byName = Name.allCases.map { name in
                let dimensions = [("environment", environment.rawValue), ("outcome", name.rawValue)]
                return (name, Counter(label: "countersign_pushes_total", dimensions: dimensions, factory: factory))
            }
            return (environment, Dictionary(uniqueKeysWithValues: byName))
        }
        counters = Dictionary(uniqueKeysWithValues: pairs)
    }

    /// Notes how a push ended.
    func record(_ outcome: PushOutcome, _ environment: PushEnvironment) {
        counters[environment]?[Name(outcome)]?.increment()
    }
}
