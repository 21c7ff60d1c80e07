internal import Delivery
internal import Foundation
internal import IdentityCore
internal import Logging
internal import NIOConcurrencyHelpers
internal import ServerHTTP

/// Delivers the back-channel logouts that wait in the store: at once after a commit of this server, and every five seconds. The latter
/// includes logouts that other servers, the command line or an earlier start of this server stored. Safe from any task.
package final class LogoutDelivery: Sendable {
    /// The maximum number of notifications that this server claims at the same time.
    private static let mostClaimed = 32
    /// The maximum number of claimed notifications for one application.
    private static let mostPerClient = 8
    private static let interval = Duration.seconds(5)

    private let queue: LogoutQueue
    private let clock: any WallClock
    private let identifiers: RequestIdentifiers
    private let logger: Logger
    /// Signals that notifications may be due.
    private let signals = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    private let claimed = NIOLockedValueBox<[String: BackchannelLogout]>([:])
    /// The position after which the next search for due notifications begins; `nil` for the first notification.
    private let position = NIOLockedValueBox<String?>(nil)

    init(sender: any LogoutSender, clock: any WallClock, identifiers: RequestIdentifiers, logger: Logger) {
        queue = LogoutQueue(sender: sender)
        (self.clock, self.identifiers, self.logger) = (clock, identifiers, logger)
    }

    /// Begins to deliver due notifications, and returns at once.
    package func wake() { signals.continuation.yield() }

    /// Delivers until the task is cancelled, or until ``shutdown()`` was called and the deliveries have ended.
    /// - Parameter readiness: While the server is not prepared, nothing is delivered.
    func run(_ engine: Engine, _ readiness: Readiness) async {
        wake()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.queue.run { await self.complete($0, $1, engine) } }
            group.addTask {
                while (try? await self.clock.sleep(for: Self.interval)) != nil { self.wake() }
            }
            for await _ in signals.stream where readiness.isPrepared { await claim(engine) }
            queue.shutdown()
            // Waits for the queue, which ends first: the other task ends only when it is cancelled.
            await group.next()
            group.cancelAll()
        }
    }

    /// Stops claiming notifications.
    func shutdown() { signals.continuation.finish() }

    private func claim(_ engine: Engine) async {
        let open = claimed.withLockedValue { $0.values.map(\.clientID) }
        let free = Self.mostClaimed - open.count
        guard free > 0 else { return }
        do {
            let claim = try await engine.claimLogouts(
                after: position.withLockedValue { $0 }, limit: free, limitPerClient: Self.mostPerClient,
                claimed: Dictionary(open.map { ($0, 1) }, uniquingKeysWith: +), context: context)
            position.withLockedValue { $0 = claim.position }
            for logout in claim.logouts {
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
        // A failed delivery does not cause a search at once: an unreachable application would cause too many.
        if case .failed = result { return }
        wake()
    }

    private var context: RequestContext { RequestContext(now: clock.now, requestID: identifiers.next()) }
}

/// The courier of a server. It discards pushes or messages if their delivery is `nil`.
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
