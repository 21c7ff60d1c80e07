extension Credential {
    /// A change of the stored credentials.
    public enum Event: Sendable {
        /// A token was stored for the first time.
        case stored(Credential)
        /// The default credential changed; `nil` means none. Changes by other processes are not reported.
        case defaultChanged(Credential?)
        /// A credential has a new token, which is already stored.
        case refreshed(Credential)
        /// A refresh failed. The credential keeps its token; its ``Credential/sessionState`` shows the consequence. Also sent for failures
        /// of ``Credential/authorize(_:)`` and ``Credential/automaticRefresh``, which cannot throw.
        case refreshFailed(Credential, any Error)
        /// The server reported the end of the session (`invalid_grant`). Nothing was deleted.
        case sessionEnded(Credential, OAuth2ServerError)
        /// A credential was removed from the storage.
        case removed(Credential)
        /// A queued revocation was delivered to the server. The id is that of the token.
        case revocationDelivered(id: String)
        /// A storage operation failed in a member that cannot throw.
        case storageFailed(any Error)
    }

    /// The future events of the stored credentials. Each access creates an independent sequence, so that every consumer receives every
    /// event. The sequence ends when its task is cancelled. A consumer that is more than about a thousand events behind loses the oldest.
    public static var events: AsyncStream<Event> {
        store.broadcaster.subscribe()
    }
}

/// Sends events to all subscribers. Safe from any thread or task. Sending never waits: a slow subscriber loses the oldest events beyond
/// ``capacity``.
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
