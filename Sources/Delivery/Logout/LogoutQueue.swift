/// Queues logout notifications, so that a sign-out never waits for applications.
///
/// ```swift
/// let queue = LogoutQueue(sender: sender)
/// async let running: Void = queue.run { notification, outcome in … }
/// queue.submit(notification)
/// queue.shutdown()
/// await running
/// ```
/// Waiting notifications and concurrent sends are limited. An application that does not respond occupies a send until the timeout, which
/// can delay notifications to other applications. Safe from any thread or task.
package final class LogoutQueue: Sendable {
    private let sender: any LogoutSender
    /// One lane for all applications.
    private let queue: DeliveryQueue<Bool, LogoutNotification>

    /// Creates a queue. Notifications can be submitted at once; they are sent while ``run(_:)`` runs.
    /// - Parameters:
    ///   - sender: The sender. The queue does not shut it down.
    ///   - capacity: The maximum number of waiting notifications, at least 1.
    ///   - concurrency: The maximum number of concurrent sends, at least 1.
    ///   - drainTime: The maximum time for which sends continue after ``shutdown()``.
    ///   - timing: The clock of the drain time.
    package init(
        sender: any LogoutSender, capacity: Int = 10_000, concurrency: Int = 32, drainTime: Duration = .seconds(5),
        timing: PushTiming = .system
    ) {
        self.sender = sender
        queue = DeliveryQueue(lanes: [true], capacity: capacity, concurrency: concurrency, drainTime: drainTime, timing: timing)
    }

    /// Queues a notification and returns at once. Returns `false` if the queue is full or shut down.
    @discardableResult
    package func submit(_ notification: LogoutNotification) -> Bool { queue.submit(notification, to: true) }

    /// Sends notifications until the queue is shut down and empty, the drain time has passed, or the task is cancelled. Call it once.
    /// - Parameter completed: Receives the outcome of each accepted notification. It can be called concurrently.
    package func run(_ completed: @escaping @Sendable (LogoutNotification, LogoutOutcome) async -> Void) async {
        await queue.run { [sender] notification in
            await completed(notification, await sender.send(notification))
        } drop: { notification in
            await completed(notification, .interrupted)
        }
    }

    /// Stops accepting notifications, and returns at once. ``run(_:)`` returns after the remaining notifications, or after the drain time.
    /// Idempotent.
    package func shutdown() { queue.shutdown() }
}
