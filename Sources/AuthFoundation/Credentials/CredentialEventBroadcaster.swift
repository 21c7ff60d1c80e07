/// Delivers events to every subscriber.
///
/// Safe from any thread or task. Sending never waits: a subscriber that lags loses the oldest events beyond ``capacity``.
final class CredentialEventBroadcaster: Sendable {
    static let capacity = 1_024

    private struct State {
        var continuations: [Int: AsyncStream<Credential.Event>.Continuation] = [:]
        var count = 0
    }

    private let state = Locked(State())

    func subscribe() -> AsyncStream<Credential.Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Credential.Event.self, bufferingPolicy: .bufferingNewest(Self.capacity))
        let number = state.withLock { state in
            state.count += 1
            state.continuations[state.count] = continuation
            return state.count
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.continuations.removeValue(forKey: number) }
        }
        return stream
    }

    func send(_ event: Credential.Event) {
        let continuations = state.withLock { Array($0.continuations.values) }
        for continuation in continuations { continuation.yield(event) }
    }

    var subscriberCount: Int { state.withLock { $0.continuations.count } }

    deinit {
        for continuation in state.withLock({ Array($0.continuations.values) }) { continuation.finish() }
    }
}
