public import Logging
public import Metrics

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
public final class PushQueue: Sendable {
    /// How much a queue holds and does at once.
    public struct Configuration: Sendable, Hashable {
        /// The most pushes that wait, in each environment.
        public var capacity: Int
        /// The most pushes on their way at once, in each environment; one that pauses before it is tried again counts.
        public var concurrency: Int
        /// How long pushes may go on after ``PushQueue/shutdown()``.
        public var drainTime: Duration

        /// Sets the limits.
        ///
        /// - Parameters:
        ///   - capacity: The most pushes that wait, in each environment, at least 1; by default 1,000.
        ///   - concurrency: The most pushes on their way at once, in each environment, at least 1; by default 32: they share a connection, and
        ///     a few that are told to come again later must not hold up the rest.
        ///   - drainTime: How long pushes may go on after the shutdown; by default 5 seconds.
        public init(capacity: Int = 1000, concurrency: Int = 32, drainTime: Duration = .seconds(5)) {
            self.capacity = max(capacity, 1)
            self.concurrency = max(concurrency, 1)
            self.drainTime = drainTime
        }
    }

    /// Is told how a push ended. Never cancelled with the queue; ``run()`` waits for it.
    public typealias Handler = @Sendable (PushNotification, PushOutcome) async -> Void

    private struct Lane: Sendable {
        let pushes: AsyncStream<PushNotification>
        let entrance: AsyncStream<PushNotification>.Continuation
    }

    private let sender: any PushSender
    private let configuration: Configuration
    private let timing: PushTiming
    private let log: PushLog
    private let metrics: PushMetrics
    private let handler: Handler
    private let lanes: [PushEnvironment: Lane]
    /// Ends at the shutdown.
    private let running: AsyncStream<Never>
    private let end: AsyncStream<Never>.Continuation

    /// Makes a queue. Pushes can be submitted at once, and are sent when it runs.
    ///
    /// - Parameters:
    ///   - sender: What sends. It is not shut down with the queue.
    ///   - configuration: The limits.
    ///   - timing: The clock of the drain time; by default the system's.
    ///   - logger: Where pushes that were never tried are logged; the sender logs the others.
    ///   - metrics: Where pushes are counted; by default where the process does.
    ///   - handler: Is told how each push ended that was taken.
    public init(
        sender: any PushSender, configuration: Configuration = Configuration(), timing: PushTiming = .system, logger: Logger,
        metrics: any MetricsFactory = MetricsSystem.factory, handler: @escaping Handler
    ) {
        self.sender = sender
        self.configuration = configuration
        self.timing = timing
        log = PushLog(logger: logger)
        self.metrics = PushMetrics(factory: metrics)
        self.handler = handler
        lanes = Dictionary(
            uniqueKeysWithValues: PushEnvironment.allCases.map { environment in
                let (pushes, entrance) = AsyncStream.makeStream(
                    of: PushNotification.self, bufferingPolicy: .bufferingOldest(configuration.capacity))
                return (environment, Lane(pushes: pushes, entrance: entrance))
            })
        (running, end) = AsyncStream.makeStream(of: Never.self)
    }

    /// Takes a push. Never waits: what is full is full.
    ///
    /// - Parameter notification: What to send, and to whom.
    /// - Returns: Whether it was taken. If not, because the queue is full or was shut down, the handler is not told.
    @discardableResult
    public func submit(_ notification: PushNotification) -> Bool {
        if case .enqueued? = lanes[notification.environment]?.entrance.yield(notification) { return true }
        noteDropped(notification)
        return false
    }

    /// Sends what is submitted, until the queue is shut down and empty, the drain time is over, or the task is cancelled. Call it once.
    ///
    /// At the end of the drain time, and when it is cancelled, pushes on their way give up, and those that were not yet tried are dropped.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.sendAll() }
            group.addTask { await self.waitForDrainTime() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Takes no more pushes, and lets ``run()`` return when it has sent those that it has. Returns at once; safe to call again.
    public func shutdown() {
        for lane in lanes.values { lane.entrance.finish() }
        end.finish()
    }

    // MARK: - Running

    private func waitForDrainTime() async {
        for await _ in running {}
        // Cancelled, it is over just the same.
        try? await timing.sleep(configuration.drainTime)
    }

    private func sendAll() async {
        await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                for lane in lanes.values { group.addTask { await self.sendAll(of: lane) } }
            }
        } onCancel: {
            shutdown()
        }
    }

    private func sendAll(of lane: Lane) async {
        await withTaskGroup(of: Void.self) { group in
            var pushes = lane.pushes.makeAsyncIterator()
            var onTheirWay = 0
            while true {
                if onTheirWay == configuration.concurrency {
                    await group.next()
                    onTheirWay -= 1
                }
                // The stream gives what it holds even after its end, and to a cancelled task.
                guard let push = await pushes.next() else { return }
                if Task.isCancelled {
                    noteDropped(push)
                    await tell(push, .dropped)
                } else {
                    group.addTask { await self.send(push) }
                    onTheirWay += 1
                }
            }
        }
    }

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
