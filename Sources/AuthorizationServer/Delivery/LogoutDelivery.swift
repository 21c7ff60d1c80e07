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

    /// Enqueues a notification and returns at once; logs a warning if a full queue rejects it.
    package func deliver(_ logout: BackchannelLogout) {
        let notification = LogoutNotification(
            id: logout.id, clientID: logout.clientID, uri: logout.uri, token: logout.token, expiresAt: logout.expiresAt)
        if !queue.submit(notification) {
            logger.warning("A back-channel logout was dropped: too many wait", metadata: ["client": .string(logout.clientID)])
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

    func deliver(_ entries: [OutboxEntry], of engine: Engine) {
        for entry in entries {
            switch entry {
            case .push(let push): pushes?.deliver(push, of: engine)
            case .message(let message): messages?.deliver(message, of: engine)
            case .logout(let logout): logouts?.deliver(logout)
            }
        }
    }
}
