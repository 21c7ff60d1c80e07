extension Credential {
    /// A change of the stored credentials.
    public enum Event: Sendable {
        /// A token was stored for the first time.
        case stored(Credential)
        /// The default credential changed; `nil` means that there is none. Changes by other processes are not reported.
        case defaultChanged(Credential?)
        /// A credential has a new token, which is already stored.
        case refreshed(Credential)
        /// A refresh failed. The credential keeps its token; its ``Credential/sessionState`` shows the consequence.
        /// ``Credential/authorize(_:)`` and ``Credential/automaticRefresh`` also send this event, because they cannot throw.
        case refreshFailed(Credential, any Error)
        /// The session ended: the server rejected the refresh token (`invalid_grant`), or its DPoP key is lost. Nothing was deleted.
        case sessionEnded(Credential, OAuth2ServerError)
        /// A credential was removed from the storage.
        case removed(Credential)
        /// The server received a queued revocation. `id` is the id of the revoked token.
        case revocationDelivered(id: String)
        /// A storage operation failed in a member that cannot throw.
        case storageFailed(any Error)
    }

    /// The future events of the stored credentials. Each access creates an independent sequence, so that every consumer receives every
    /// event. The sequence ends when its task is cancelled. It buffers 1,024 events; a slow consumer loses the oldest ones.
    public static var events: AsyncStream<Event> {
        store.broadcaster.subscribe()
    }
}

typealias CredentialEventBroadcaster = Broadcaster<Credential.Event>

/// A broadcaster that sends values to all subscribers. Safe from any thread or task. Sending never waits: a slow subscriber loses the
/// oldest values beyond the capacity.
package final class Broadcaster<Value: Sendable>: Sendable {
    private struct State {
        /// The open streams by number; `nil` after ``finish()``.
        var continuations: [Int: AsyncStream<Value>.Continuation]? = [:]
        var count = 0
    }

    private let state = Locked(State())
    private let capacity: Int

    package init(capacity: Int = 1_024) {
        self.capacity = capacity
    }

    /// Returns a stream of the values that are sent from now on, after `first` if it is given. The stream ends with ``finish()``.
    package func subscribe(startingWith first: Value? = nil) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(capacity))
        let number = state.withLock { state -> Int? in
            guard state.continuations != nil else { return nil }
            state.count += 1
            state.continuations?[state.count] = continuation
            return state.count
        }
        // Yield after the registration, so that the subscriber misses no value that is sent after it received `first`.
        if let first { continuation.yield(first) }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.continuations?.removeValue(forKey: number) }
        }
        return stream
    }

    package func send(_ value: Value) {
        for continuation in state.withLock({ $0.continuations ?? [:] }).values { continuation.yield(value) }
    }

    /// Ends all streams, including the streams of later subscribers.
    package func finish() {
        for continuation in (state.exchange(State(continuations: nil)).continuations ?? [:]).values { continuation.finish() }
    }

    var subscriberCount: Int { state.withLock { $0.continuations?.count ?? 0 } }

    deinit { finish() }
}
