import Delivery
import NIOConcurrencyHelpers

/// A push sender that records notifications and returns the outcome that a test sets.
final class RecordingSender: PushSender {
    private let outcome: NIOLockedValueBox<PushOutcome?> = NIOLockedValueBox(nil)
    private let hangs = NIOLockedValueBox(false)
    private let kept: NIOLockedValueBox<[PushNotification]> = NIOLockedValueBox([])
    private let arriving: AsyncStream<PushNotification>
    private let entrance: AsyncStream<PushNotification>.Continuation

    init() { (arriving, entrance) = AsyncStream.makeStream(of: PushNotification.self) }

    /// All recorded notifications.
    var sent: [PushNotification] { kept.withLockedValue { $0 } }

    /// Sets the outcome of the next pushes.
    func answer(_ outcome: PushOutcome) { self.outcome.withLockedValue { $0 = outcome } }

    /// Makes the next pushes hang until they are cancelled.
    func hang() { hangs.withLockedValue { $0 = true } }

    /// Waits for the next unread push and returns it.
    func next() async -> PushNotification? {
        var iterator = arriving.makeAsyncIterator()
        return await iterator.next()
    }

    func send(_ notification: PushNotification) async -> PushOutcome {
        kept.withLockedValue { $0.append(notification) }
        entrance.yield(notification)
        if hangs.withLockedValue({ $0 }) {
            let (never, continuation) = AsyncStream.makeStream(of: Never.self)
            for await _ in never {}
            continuation.finish()
            return .gaveUp(reason: "cancelled")
        }
        return outcome.withLockedValue { $0 } ?? .delivered(id: notification.id)
    }
}
