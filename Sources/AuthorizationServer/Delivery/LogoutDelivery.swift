internal import Delivery
package import IdentityCore
internal import Logging
internal import ServerHTTP

/// Tells applications that sessions are over. Nobody waits for it. Safe from any task.
package final class LogoutDelivery: Sendable {
    private let queue: LogoutQueue
    private let logger: Logger

    init(sender: any LogoutSender, logger: Logger) {
        queue = LogoutQueue(sender: sender)
        self.logger = logger
    }

    /// Sends some time soon. Returns at once.
    package func deliver(_ logouts: [BackchannelLogout]) {
        for logout in logouts {
            let notification = LogoutNotification(
                id: logout.id, clientID: logout.clientID, uri: logout.uri, token: logout.token, expiresAt: logout.expiresAt)
            if !queue.submit(notification) {
                logger.warning("A back-channel logout was dropped: too many wait", metadata: ["client": .string(logout.clientID)])
            }
        }
    }

    /// Sends until the task is cancelled or ``shutdown()`` is called, and what was taken is sent.
    func run() async { await queue.run() }

    /// Takes no more.
    func shutdown() { queue.shutdown() }
}

/// The queues of a server. What has no queue is not sent.
struct Deliveries: Courier {
    let pushes: PushDelivery?
    let messages: MessageDelivery?
    let logouts: LogoutDelivery?

    func deliver(_ pushes: [PushMessage]) { self.pushes?.deliver(pushes) }
    func deliver(_ messages: [OutgoingMessage], origin: String) { self.messages?.deliver(messages, origin: origin) }
    func deliver(_ logouts: [BackchannelLogout]) { self.logouts?.deliver(logouts) }
}
