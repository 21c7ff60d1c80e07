import Delivery
import NIOConcurrencyHelpers

/// Keeps what applications are told, and sends nothing.
final class RecordingLogoutSender: LogoutSender {
    private let notifications = AsyncStream<LogoutNotification>.makeStream()
    private let count = NIOLockedValueBox(0)

    func send(_ notification: LogoutNotification) async -> LogoutOutcome {
        count.withLockedValue { $0 += 1 }
        notifications.continuation.yield(notification)
        return .delivered
    }

    /// How many were sent until now.
    var sent: Int { count.withLockedValue { $0 } }

    /// Waits for the next ones, as many as that, and gives them by their client's id.
    func next(_ number: Int) async -> [String: LogoutNotification] {
        var received: [String: LogoutNotification] = [:]
        for await notification in notifications.stream {
            received[notification.clientID] = notification
            if received.count == number { break }
        }
        return received
    }
}
