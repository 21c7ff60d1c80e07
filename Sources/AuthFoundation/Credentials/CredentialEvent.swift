extension Credential {
    /// Something that happened to the stored credentials.
    public enum Event: Sendable {
        /// A token was stored for the first time.
        case stored(Credential)
        /// Another credential, or none, is the default one now. Changes by other processes are not told.
        case defaultChanged(Credential?)
        /// A credential has a new token, which is stored already.
        case refreshed(Credential)
        /// A refresh failed; the credential keeps its token and its ``Credential/sessionState`` says what it means.
        ///
        /// Also sent for the failures that ``Credential/authorize(_:)`` and ``Credential/automaticRefresh`` can't throw.
        case refreshFailed(Credential, any Error)
        /// The server said that the session is over (`invalid_grant`). Nothing was deleted.
        case sessionEnded(Credential, OAuth2ServerError)
        /// A credential was removed from the storage.
        case removed(Credential)
        /// A sign-out that was kept until the server could be reached was delivered; the id is that of the token.
        case revocationDelivered(id: String)
        /// Something could not be read from the storage or written to it, in a place that can't throw.
        case storageFailed(any Error)
    }

    /// What happens to the stored credentials from now on.
    ///
    /// Each access makes a sequence of its own, so that any number of consumers see every event. It ends when its task is cancelled.
    /// A consumer that falls more than a thousand events behind loses the oldest.
    public static var events: AsyncStream<Event> {
        store.broadcaster.subscribe()
    }
}

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
