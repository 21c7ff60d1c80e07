extension Credential {
    /// Signs the person out: revokes tokens on the server, and removes the local copy.
    ///
    /// What `type` names is revoked. If that ends the session (``Token/RevokeType/all``; ``Token/RevokeType/refreshToken``;
    /// ``Token/RevokeType/accessToken`` of a credential without refresh token), the credential is **always** removed from the storage,
    /// before the server is asked: also if it can't be reached, the task is cancelled, or the process is killed meanwhile. If it was the
    /// ``default``, that is nil afterwards, and the next token stored becomes the default if no other credential is stored.
    ///
    /// A revocation that could not be delivered is kept, encrypted as tokens are, and sent again with the next ``store(_:tags:security:)``,
    /// the next ``refresh()`` of any credential, or by ``deliverPendingRevocations()``; until then the tokens stay good on the server. After
    /// 90 days it is given up.
    ///
    /// Other types remove nothing.
    ///
    /// - Parameter type: Which tokens.
    /// - Throws: ``OAuth2Error/missingToken(type:)`` if there is no such token, and nothing was done; errors of the network or the server after
    ///   the local copy is removed; errors of the storage.
    public func revoke(type: Token.RevokeType = .all) async throws {
        guard type.endsSession(of: token), let store else {
            try await oauth2.revoke(token, type: type)
            return
        }
        if isRefreshing {
            // The refresh brings a token that nobody would revoke. Its failure is its own callers' business; who asks for another
            // refresh now comes too late.
            try? await refreshes.value(for: id) { throw CredentialError.missingCoordinator }
        }
        try await store.signOut(self, type: type)
    }

    /// Tries to deliver the sign-outs that the server does not know of yet.
    ///
    /// - Returns: How many were delivered.
    /// - Throws: The first failure, after all were tried; errors of the storage. What failed is kept.
    @discardableResult
    public static func deliverPendingRevocations() async throws -> Int {
        try await store.deliverRevocations()
    }

    /// Removes the credential from the storage: its token and metadata here, nothing on the server.
    ///
    /// If it was the ``default``, there is none afterwards. ``automaticRefresh`` ends.
    ///
    /// - Throws: ``CredentialError/missingCoordinator`` if it was removed already; errors of the storage.
    public func remove() throws {
        guard let coordinator else { throw CredentialError.missingCoordinator }
        try CredentialActor.synchronously { try coordinator.remove(credential: self) }
    }
}

extension Token.RevokeType {
    /// Whether nothing is left of the session when this is revoked.
    func endsSession(of token: Token) -> Bool {
        switch self {
        case .all: true
        case .refreshToken: token.refreshToken != nil
        case .accessToken: token.refreshToken == nil
        case .deviceSecret: false
        }
    }
}
