internal import Delivery
package import IdentityCore
internal import Logging
internal import ServerHTTP

/// Queues back-channel logout notifications to applications. Safe from any task.
package final class LogoutDelivery: Sendable {
    private let queue: LogoutQueue
    private let logger: Logger

    init(sender: any LogoutSender, logger: Logger) {
        queue = LogoutQueue(sender: sender)
        self.logger = logger
    }

    /// Enqueues notifications and returns at once; logs a warning for each one that a full queue rejects.
    package func deliver(_ logouts: [BackchannelLogout]) {
        for logout in logouts {
            let notification = LogoutNotification(
                id: logout.id, clientID: logout.clientID, uri: logout.uri, token: logout.token, expiresAt: logout.expiresAt)
            if !queue.submit(notification) {
                logger.warning("A back-channel logout was dropped: too many wait", metadata: ["client": .string(logout.clientID)])
            }
        }
    }

    /// Sends until the task is cancelled, or until ``shutdown()`` was called and the queue is empty.
    func run() async { await queue.run() }

    /// Stops accepting notifications.
    func shutdown() { queue.shutdown() }
}

/// The delivery queues of a server. Without a queue, its messages are discarded.
struct Deliveries: Courier {
    let pushes: PushDelivery?
    let messages: MessageDelivery?
    let logouts: LogoutDelivery?

    func deliver(_ pushes: [PushMessage]) { self.pushes?.deliver(pushes) }
    func deliver(_ messages: [OutgoingMessage], origin: String) { self.messages?.deliver(messages, origin: origin) }
    func deliver(_ logouts: [BackchannelLogout]) { self.logouts?.deliver(logouts) }
}
