extension Credential {
    /// What is known of the session on the server, from the last refresh.
    public enum SessionState: Sendable {
        /// The last refresh worked, or there was none yet.
        case active
        /// The server refused the refresh token for good (`invalid_grant`): the person has to sign in again.
        case ended(OAuth2ServerError)
        /// The last refresh failed for a reason that says nothing of the session: no network, a busy or broken server. Worth trying again.
        case unreachable(any Error)
    }

    /// What the last refresh told of the session on the server.
    ///
    /// Only a definite `invalid_grant` ends a session; it deletes nothing. Being offline, errors of the server and rate limits leave
    /// the credential usable. The state is that of this process: after a restart it is ``SessionState/active`` until a refresh says otherwise.
    public var sessionState: SessionState {
        state.withLock { $0.session }
    }
}
