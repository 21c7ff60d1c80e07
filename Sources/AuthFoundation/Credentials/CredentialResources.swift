extension Credential {
    /// The profile that was fetched last, or `nil` before the first `userInfo()` call. A locked credential has none; see ``isLocked``.
    public var userInfo: UserInfo? {
        lockIfAbsent()
        return state.withLock { $0.userInfo }
    }

    /// Returns the user's profile. The profile is fetched once per credential object and kept across refreshes. Concurrent calls share the
    /// request.
    /// - Throws: ``CredentialLockedError``; ``JWTError/invalidSubject`` if the profile belongs to another user; network and server errors;
    ///   `CancellationError`. Errors are not cached.
    public func userInfo() async throws -> UserInfo {
        if let known: UserInfo = userInfo { return known }
        return try await userInfoRequests.value(for: id) { [self] in
            // An earlier request may have finished meanwhile.
            if let known: UserInfo = userInfo { return known }
            let fetched = try await oauth2.userInfo(token: unlockedToken())
            // The credential may have been locked during the request. Its callers get the profile, and the credential does not keep it.
            lockIfAbsent()
            state.withLock { if !$0.lock.isLocked { $0.userInfo = fetched } }
            return fetched
        }
    }

    /// Requests information about one of the tokens from the server (RFC 7662).
    /// - Returns: The response. Its ``TokenInfo/active`` is false if the token is no longer valid.
    /// - Throws: ``CredentialLockedError``; ``OAuth2Error/missingToken(type:)`` if there is no token of this kind; network and server errors.
    public func introspect(_ type: Token.Kind) async throws -> TokenInfo {
        try await oauth2.introspect(token: unlockedToken(), type: type)
    }
}

extension Credential {
    /// The app's own labels. A credential that is not stored has none. A property cannot throw: failures send a
    /// ``Event/storageFailed(_:)``. To handle errors, use ``setTags(_:)``.
    public var tags: [String: String] {
        get {
            guard let coordinator else { return [:] }
            do {
                return try CredentialActor.synchronously { try coordinator.tokenStorage.metadata(for: id).tags }
            } catch TokenError.tokenNotFound {
                return [:]
            } catch {
                send(.storageFailed(error))
                return [:]
            }
        }
        set {
            do { try setTags(newValue) } catch { send(.storageFailed(error)) }
        }
    }

    /// Replaces the app's own labels durably.
    /// - Throws: ``CredentialError/missingCoordinator`` if the credential was removed; ``TokenError/tokenNotFound(id:)`` if it was never
    ///   stored; storage errors.
    public func setTags(_ tags: [String: String]) throws {
        guard let coordinator else { throw CredentialError.missingCoordinator }
        try CredentialActor.synchronously {
            try coordinator.tokenStorage.setMetadata(Token.Metadata(token: token, tags: tags))
        }
    }
}

/// The connection between the token storage and the credentials.
@CredentialActor
public protocol CredentialCoordinator: AnyObject, Sendable {
    /// The data source that creates and keeps the credentials.
    var credentialDataSource: any CredentialDataSource { get set }

    /// The token storage.
    var tokenStorage: any TokenStorage { get set }

    /// Observes a credential's client, so that refreshed tokens are stored.
    func observe(oauth2 client: OAuth2Client)

    /// Deletes a credential's token and metadata locally, without a request to the server.
    /// - Throws: Storage errors.
    func remove(credential: Credential) throws
}
