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
package final class LogoutQueue: Sendable {
    private let sender: any LogoutSender
    /// One lane: an application has no queue of its own.
    private let queue: DeliveryQueue<Bool, LogoutNotification>

    /// Makes a queue. Notifications can be submitted at once, and are sent when it runs.
    ///
    /// - Parameters:
    ///   - sender: What sends. It is not shut down with the queue.
    ///   - capacity: The most that wait, at least 1.
    ///   - concurrency: The most on their way at once, at least 1.
    ///   - drainTime: How long they may go on after ``shutdown()``.
    ///   - timing: The clock of the drain time; by default the system's.
    package init(
        sender: any LogoutSender, capacity: Int = 10_000, concurrency: Int = 32, drainTime: Duration = .seconds(5),
        timing: PushTiming = .system
    ) {
        self.sender = sender
        queue = DeliveryQueue(lanes: [true], capacity: capacity, concurrency: concurrency, drainTime: drainTime, timing: timing)
    }

    /// Takes a notification. Never waits: what is full is full.
    ///
    /// - Parameter notification: What to send, and where.
    /// - Returns: Whether it was taken.
    @discardableResult
    package func submit(_ notification: LogoutNotification) -> Bool { queue.submit(notification, to: true) }

    /// Sends what is submitted, until the queue is shut down and empty, the drain time is over, or the task is cancelled. Call it once.
    package func run() async {
        await queue.run { [sender] notification in
            _ = await sender.send(notification)
        } drop: { _ in
        }
    }

    /// Takes no more, and lets ``run()`` return when it has sent what it has. Returns at once; safe to call again.
    package func shutdown() { queue.shutdown() }
}
