import Delivery
import NIOConcurrencyHelpers

/// A logout sender that records notifications and sends nothing.
final class RecordingLogoutSender: LogoutSender {
    private let notifications = AsyncStream<LogoutNotification>.makeStream()
    private let count = NIOLockedValueBox(0)

    func send(_ notification: LogoutNotification) async -> LogoutOutcome {
        count.withLockedValue { $0 += 1 }
        notifications.continuation.yield(notification)
        return .delivered
    }

    /// The number of notifications so far.
    var sent: Int { count.withLockedValue { $0 } }

    /// Waits for this number of notifications and returns them by client ID.
    func next(_ number: Int) async -> [String: LogoutNotification] {
        var received: [String: LogoutNotification] = [:]
        for await notification in notifications.stream {
            received[notification.clientID] = notification
            if received.count == number { break }
        }
        return received
    }
}
