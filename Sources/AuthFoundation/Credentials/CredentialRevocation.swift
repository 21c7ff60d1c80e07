extension Credential {
    /// Revokes tokens at the server. If the revocation ends the session, the credential is also removed from the storage.
    ///
    /// These types end the session: ``Token/RevokeType/all``, ``Token/RevokeType/refreshToken``, and ``Token/RevokeType/accessToken`` if
    /// there is no refresh token. Then the credential is **always** removed before the request is sent, even if the server is unreachable,
    /// the task is cancelled or the process ends. If it was the ``default``, the default becomes `nil`. Other types remove nothing.
    ///
    /// After a temporary failure, the revocation stays stored, encrypted like a token. It is retried by the next
    /// ``store(_:tags:security:)``, by the next ``refresh()`` of any credential, and by ``deliverPendingRevocations()``. Until then the
    /// tokens stay valid at the server. After 90 days the revocation is discarded.
    ///
    /// A sign-out that began before the credential was locked, such as because the app entered the background, still revokes the tokens.
    /// - Throws: ``OAuth2Error/missingToken(type:)`` if there is no token of this kind, and ``CredentialLockedError``; then nothing
    ///   changes. Network or server errors after the local removal; storage errors.
    public func revoke(type: Token.RevokeType = .all) async throws {
        try await revoke(type: type, known: unlockedToken())
    }

    /// Revokes tokens like ``revoke(type:)``, also if the credential was locked after the caller read its token.
    /// - Parameter known: The token of the credential with its secrets, from before the lock.
    package func revoke(type: Token.RevokeType = .all, known: Token) async throws {
        // Kept until the revocation, because the credential can be locked meanwhile. Its own token then lacks the tokens to revoke.
        var token = (try? unlockedToken()) ?? known
        guard type.endsSession(of: token), let store else {
            try await oauth2.revoke(token, type: type)
            return
        }
        // Wait for a refresh, because otherwise its new token would not be revoked. The callers of the refresh handle its failure. No new
        // refresh starts.
        if isRefreshing, let refreshed = try? await refreshes.value(for: id, operation: { throw CredentialError.missingCoordinator }) {
            token = refreshed
        }
        try await store.signOut(self, token, type: type)
    }

    /// Retries the revocations that the server has not received yet. Temporary failures are kept for the next attempt; permanently rejected
    /// revocations are discarded.
    /// - Returns: The number of delivered revocations.
    /// - Throws: The first failure, after all revocations were tried; storage errors.
    @discardableResult
    public static func deliverPendingRevocations() async throws -> Int {
        try await store.deliverRevocations()
    }

    /// Removes the credential's token and metadata from the storage, without a request to the server. If the credential was the
    /// ``default``, the default becomes `nil`. ``automaticRefresh`` stops.
    /// - Throws: ``CredentialError/missingCoordinator`` if the credential was already removed; storage errors.
    public func remove() throws {
        guard let coordinator else { throw CredentialError.missingCoordinator }
        try CredentialActor.synchronously { try coordinator.remove(credential: self) }
    }
}

extension Token.RevokeType {
    /// Whether revoking this type ends the session.
    func endsSession(of token: Token) -> Bool {
        switch self {
        case .all: true
        case .refreshToken: token.refreshToken != nil
        case .accessToken: token.refreshToken == nil
        case .deviceSecret: false
        }
    }
}
