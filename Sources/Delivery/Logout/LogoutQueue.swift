/// Holds notifications until they can be sent, so that whoever signs out never waits for applications.
///
/// ```swift
/// let queue = LogoutQueue(sender: sender)
/// async let running: Void = queue.run()
/// queue.submit(notification)
/// queue.shutdown()
/// await running
/// ```
///
/// So many wait and so many are on their way at once, and no more: an application that hangs holds up its own and a few others for as long
/// as a try may take. `Sendable`; safe from any thread or task.
public final class LogoutQueue: Sendable {
    private let sender: any LogoutSender
    private let concurrency: Int
    private let drainTime: Duration
    private let timing: PushTiming
    private let notifications: AsyncStream<LogoutNotification>
    private let entrance: AsyncStream<LogoutNotification>.Continuation
    private let running: AsyncStream<Never>
    private let end: AsyncStream<Never>.Continuation

    /// Makes a queue. Notifications can be submitted at once, and are sent when it runs.
    ///
    /// - Parameters:
    ///   - sender: What sends. It is not shut down with the queue.
    ///   - capacity: The most that wait, at least 1.
    ///   - concurrency: The most on their way at once, at least 1.
    ///   - drainTime: How long they may go on after ``shutdown()``.
    ///   - timing: The clock of the drain time; by default the system's.
    public init(
        sender: any LogoutSender, capacity: Int = 10_000, concurrency: Int = 32, drainTime: Duration = .seconds(5),
        timing: PushTiming = .system
    ) {
        self.sender = sender
        self.concurrency = max(concurrency, 1)
        self.drainTime = drainTime
        self.timing = timing
        (notifications, entrance) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(max(capacity, 1)))
        (running, end) = AsyncStream.makeStream()
    }

    /// Takes a notification. Never waits: what is full is full.
    ///
    /// - Parameter notification: What to send, and where.
    /// - Returns: Whether it was taken.
    @discardableResult
    public func submit(_ notification: LogoutNotification) -> Bool {
        if case .enqueued = entrance.yield(notification) { true } else { false }
    }

    /// Sends what is submitted, until the queue is shut down and empty, the drain time is over, or the task is cancelled. Call it once.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.sendAll() }
            group.addTask {
                for await _ in self.running {}
                // Cancelled, it is over just the same.
                try? await self.timing.sleep(self.drainTime)
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// Takes no more, and lets ``run()`` return when it has sent what it has. Returns at once; safe to call again.
    public func shutdown() {
        entrance.finish()
        end.finish()
    }

    private func sendAll() async {
        await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                var waiting = notifications.makeAsyncIterator()
                var onTheirWay = 0
                while true {
                    if onTheirWay == concurrency {
                        await group.next()
                        onTheirWay -= 1
                    }
                    guard let notification = await waiting.next(), !Task.isCancelled else { return }
                    group.addTask { [sender] in _ = await sender.send(notification) }
                    onTheirWay += 1
                }
            }
        } onCancel: {
            shutdown()
        }
    }
}
