import Delivery
import NIOConcurrencyHelpers

/// A push service that keeps what it is given and answers as it is told.
final class RecordingSender: PushSender {
    private let outcome: NIOLockedValueBox<PushOutcome?> = NIOLockedValueBox(nil)
    private let hangs = NIOLockedValueBox(false)
    private let kept: NIOLockedValueBox<[PushNotification]> = NIOLockedValueBox([])
    private let arriving: AsyncStream<PushNotification>
    private let entrance: AsyncStream<PushNotification>.Continuation

    init() { (arriving, entrance) = AsyncStream.makeStream(of: PushNotification.self) }

    /// Everything that was sent.
    var sent: [PushNotification] { kept.withLockedValue { $0 } }

    /// How the next pushes end.
    func answer(_ outcome: PushOutcome) { self.outcome.withLockedValue { $0 = outcome } }

    /// Makes the next pushes hang until they are cancelled.
    func hang() { hangs.withLockedValue { $0 = true } }

    /// The next push that was not asked for yet; waits for it.
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
