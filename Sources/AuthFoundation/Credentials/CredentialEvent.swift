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
