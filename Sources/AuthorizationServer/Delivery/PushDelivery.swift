internal import Delivery
internal import DeviceAPI
internal import Foundation
package import IdentityCore
internal import Logging
internal import NIOConcurrencyHelpers
internal import ServerHTTP

/// Queues challenge pushes for the push service and reports dead device tokens to the engine. If a push is lost, the device can still fetch
/// the challenge. Safe from any task.
package final class PushDelivery: Sendable {
    private let queue: PushQueue
    private let logger: Logger
    private let identifiers: RequestIdentifiers
    private let pending = NIOLockedValueBox<[String: (enrollmentID: String, engine: Engine)]>([:])

    init(sender: any PushSender, clock: any WallClock, identifiers: RequestIdentifiers, logger: Logger) {
        self.logger = logger
        self.identifiers = identifiers
        let pending = pending
        queue = PushQueue(sender: sender, logger: logger) { push, outcome in
            let sent = pending.withLockedValue { $0.removeValue(forKey: push.id) }
            guard case .tokenDead(let since) = outcome, let sent else { return }
            do {
                try await sent.engine.pushTokenDied(
                    enrollmentID: sent.enrollmentID, token: push.deviceToken, since: since,
                    context: RequestContext(now: clock.now, requestID: identifiers.next()))
            } catch {
                logger.error("A dead push token could not be noted", metadata: ["enrollment": "\(sent.enrollmentID)", "error": "\(error)"])
            }
        }
    }

    /// Enqueues a push and returns at once.
    package func deliver(_ message: PushMessage, of engine: Engine) {
        guard let push = notification(message) else { return }
        pending.withLockedValue { $0[push.id] = (message.enrollmentID, engine) }
        if !queue.submit(push) { pending.withLockedValue { _ = $0.removeValue(forKey: push.id) } }
    }

    /// Sends until the task is cancelled, or until ``shutdown()`` was called and the queue is empty.
    func run() async { await queue.run() }

    /// Stops accepting pushes.
    func shutdown() { queue.shutdown() }

    private func notification(_ message: PushMessage) -> PushNotification? {
        let credentials = message.credentials
        do {
            return PushNotification(
                deviceToken: message.pushToken,
                topic: message.isDevelopment ? credentials.developmentTopic ?? credentials.topic : credentials.topic,
                environment: message.isDevelopment ? .development : .production, payload: message.payload, expiresAt: message.expiresAt,
                id: UUID().uuidString.lowercased(), collapseID: message.collapseID,
                credentials: try APNsCredentials(
                    teamID: credentials.teamID, keyID: credentials.keyID, privateKeyPEM: credentials.privateKey ?? ""))
        } catch {
            logger.error("The push credentials cannot be used", metadata: ["key": "\(credentials.keyID)", "error": "\(error)"])
            return nil
        }
    }
}
