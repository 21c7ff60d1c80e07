extension Credential {
    /// The profile that was fetched last; nil before the first `userInfo()`.
    public var userInfo: UserInfo? {
        state.withLock { $0.userInfo }
    }

    /// The person's profile: the one fetched before, else fetched now.
    ///
    /// One request per credential object; concurrent calls share it. The answer is kept over refreshes.
    ///
    /// - Returns: The profile.
    /// - Throws: Errors of the network and the server, which are not kept; `CancellationError`.
    public func userInfo() async throws -> UserInfo {
        if let known: UserInfo = userInfo { return known }
        return try await userInfoRequests.value(for: id) { [self] in
            // The request of a call that came just before may have ended in between.
            if let known: UserInfo = userInfo { return known }
            let fetched = try await oauth2.userInfo(token: token)
            state.withLock { $0.userInfo = fetched }
            return fetched
        }
    }

    /// Asks the server about one of the tokens (RFC 7662).
    ///
    /// - Parameter type: Which token.
    /// - Returns: What the server tells; ``TokenInfo/active`` is false for one that is no longer good.
    /// - Throws: Errors of the network and the server.
    public func introspect(_ type: Token.Kind) async throws -> TokenInfo {
        try await oauth2.introspect(token: token, type: type)
    }
}

extension Credential {
    /// The app's own marks. A credential that is not stored has none.
    ///
    /// A getter and a setter can't throw: what fails becomes a ``Event/storageFailed(_:)``. ``setTags(_:)`` throws instead.
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

    /// Replaces the app's own marks, durably.
    ///
    /// - Parameter tags: The marks.
    /// - Throws: ``CredentialError/missingCoordinator`` if the credential was removed; ``TokenError/tokenNotFound(id:)`` if it was never
    ///   stored; errors of the storage.
    public func setTags(_ tags: [String: String]) throws {
        guard let coordinator else { throw CredentialError.missingCoordinator }
        try CredentialActor.synchronously {
            try coordinator.tokenStorage.setMetadata(Token.Metadata(token: token, tags: tags))
        }
    }
}

/// What joins the storage of tokens to the credentials made of them.
@CredentialActor
public protocol CredentialCoordinator: AnyObject, Sendable {
    /// Makes and keeps the credentials.
    var credentialDataSource: any CredentialDataSource { get set }

    /// Keeps the tokens.
    var tokenStorage: any TokenStorage { get set }

    /// Takes part in what a client does, so that a token refreshed by it is stored.
    ///
    /// - Parameter client: The client of a credential.
    func observe(oauth2 client: OAuth2Client)

    /// Forgets a credential: deletes its token and metadata here, without telling the server.
    ///
    /// - Parameter credential: The credential.
    /// - Throws: What the storage throws.
    func remove(credential: Credential) throws
}
