internal import Delivery
internal import Foundation
internal import IdentityCore
internal import Logging
internal import NIOConcurrencyHelpers
internal import ServerHTTP

/// Delivers the back-channel logouts that wait in the store: at once after a commit of this server, and at an interval those of other
/// servers, of the command line and of an earlier start. Safe from any task.
package final class LogoutDelivery: Sendable {
    /// The maximum number of notifications that this server has claimed at a time.
    private static let mostClaimed = 32
    private static let interval = Duration.seconds(5)

    private let queue: LogoutQueue
    private let clock: any WallClock
    private let identifiers: RequestIdentifiers
    private let logger: Logger
    /// Signals that notifications may be due.
    private let signals = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    private let claimed = NIOLockedValueBox<[String: BackchannelLogout]>([:])

    init(sender: any LogoutSender, clock: any WallClock, identifiers: RequestIdentifiers, logger: Logger) {
        queue = LogoutQueue(sender: sender)
        (self.clock, self.identifiers, self.logger) = (clock, identifiers, logger)
    }

    /// Begins to deliver due notifications, and returns at once.
    package func wake() { signals.continuation.yield() }

    /// Delivers until the task is cancelled, or until ``shutdown()`` was called and the deliveries have ended.
    func run(_ engine: Engine) async {
        wake()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.queue.run { await self.complete($0, $1, engine) } }
            group.addTask {
                while (try? await self.clock.sleep(for: Self.interval)) != nil { self.wake() }
            }
            for await _ in signals.stream { await claim(engine) }
            queue.shutdown()
            // The queue ends first: the other task ends only when it is cancelled.
            await group.next()
            group.cancelAll()
        }
    }

    /// Stops claiming notifications.
    func shutdown() { signals.continuation.finish() }

    private func claim(_ engine: Engine) async {
        let free = Self.mostClaimed - claimed.withLockedValue(\.count)
        guard free > 0 else { return }
        do {
            for logout in try await engine.claimLogouts(limit: free, context: context) {
                claimed.withLockedValue { $0[logout.id] = logout }
                let notification = LogoutNotification(
                    id: logout.id, clientID: logout.clientID, uri: logout.uri, token: logout.token, expiresAt: logout.expiresAt)
                if !queue.submit(notification) { await complete(notification, .interrupted, engine) }
            }
        } catch {
            logger.error("back-channel logouts cannot be read; they are tried again", metadata: ["error": .string("\(error)")])
        }
    }

    private func complete(_ notification: LogoutNotification, _ outcome: LogoutOutcome, _ engine: Engine) async {
        guard let logout = claimed.withLockedValue({ $0.removeValue(forKey: notification.id) }) else { return }
        let result: LogoutDeliveryResult =
            switch outcome {
            case .delivered: .delivered
            case .refused(let status): .refused(reason: "status \(status)")
            case .interrupted: .interrupted
            case .gaveUp(let reason): .failed(reason: reason)
            }
        do {
            try await engine.completeLogout(logout, result, context: context)
        } catch {
            // The notification is sent once more when its claim expires.
            logger.error("the result of a back-channel logout is lost", metadata: ["error": .string("\(error)")])
        }
        wake()
    }

    private var context: RequestContext { RequestContext(now: clock.now, requestID: identifiers.next()) }
}

/// The deliveries of a server. Without its part, a push or message is discarded.
struct Deliveries: Courier {
    let pushes: PushDelivery?
    let messages: MessageDelivery?
    let logouts: LogoutDelivery?

    func deliver(_ entries: [OutboxEntry], of engine: Engine) {
        for entry in entries {
            switch entry {
            case .push(let push): pushes?.deliver(push, of: engine)
            case .message(let message): messages?.deliver(message, of: engine)
            case .logouts: logouts?.wake()
            }
        }
    }
}
