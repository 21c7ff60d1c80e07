public import Foundation

extension Credential {
    /// Gets new tokens by the refresh token and stores them in the place of the old ones.
    ///
    /// Concurrent calls share one request, and each ends with the new token stored durably. A call that is cancelled leaves the others and the
    /// request alone. When several processes share the storage, one refreshes and the others take over what it got. If the answer is lost
    /// on its way, the request is repeated once, for which servers leave some seconds.
    ///
    /// A failure leaves the old token in place. It is told by ``sessionState``, by ``Event/refreshFailed(_:_:)`` and, for `invalid_grant`
    /// only, by ``Event/sessionEnded(_:_:)``.
    ///
    /// - Throws: ``OAuth2Error/missingToken(type:)`` without a refresh token; ``CredentialError/missingCoordinator`` if the credential was
    ///   removed; errors of the network, the server and the storage; `CancellationError`.
    public func refresh() async throws {
        try await refreshes.value(for: id) { [self] in try await RefreshFlight(credential: self).run() }
    }

    /// Refreshes if the token has ended or will soon.
    ///
    /// - Parameter graceInterval: For how many seconds the token must be good still. A token that lives no longer than that is refreshed
    ///   each time. One whose end is not known is left alone.
    /// - Throws: What ``refresh()`` throws.
    public func refreshIfNeeded(graceInterval: TimeInterval = Credential.refreshGraceInterval) async throws {
        guard needsRefresh(within: graceInterval) else { return }
        takeOverStoredToken()
        guard needsRefresh(within: graceInterval) else { return }
        try await refresh()
    }

    /// Another process may have refreshed the token since this one looked.
    private func takeOverStoredToken() {
        guard isStored, let coordinator else { return }
        CredentialActor.synchronously {
            // What can't be read is thrown by the refresh that follows.
            guard coordinator.tokenStorage is any SharedTokenStorage,
                let token = try? coordinator.tokenStorage.get(token: id, prompt: nil, authenticationContext: nil)
            else { return }
            adopt(token)
        }
    }

    /// Whether a refresh is under way.
    var isRefreshing: Bool { refreshes.isRunning(id) }

    func needsRefresh(within graceInterval: TimeInterval) -> Bool {
        guard let expiresAt = token.expiresAt else { return false }
        return expiresAt.timeIntervalSince(oauth2.now) <= graceInterval
    }
}

/// One refresh, on behalf of all who asked for it while it ran.
private struct RefreshFlight: Sendable {
    /// How long to wait for another process that refreshes the same token, in all and from look to look.
    private static let patience = Duration.seconds(60)
    private static let pause = Duration.milliseconds(20)

    let credential: Credential

    func run() async throws {
        do {
            try await refresh()
        } catch {
            report(error)
            throw error
        }
    }

    private func refresh() async throws {
        guard let coordinator = credential.coordinator else { throw CredentialError.missingCoordinator }
        // What another process stored since is the token to begin with.
        let before = try await storedToken(coordinator)
        let lock = try await otherProcessesExcluded(coordinator)
        defer { lock?.release() }
        let token = try await storedToken(coordinator)
        // It was refreshed while we waited: what the caller asked for has been done.
        guard token == before else { return }
        guard token.refreshToken != nil else { throw OAuth2Error.missingToken(type: .refreshToken) }
        do {
            try await store(await request(token), coordinator)
        } catch {
            // A process that could not take part in the lock may have been faster.
            if RefreshFailure(error).ending != nil, try await storedToken(coordinator) != token { return }
            throw error
        }
        await credential.store?.deliverRevocationsInBackground()
    }

    private func request(_ token: Token) async throws -> Token {
        do {
            return try await credential.oauth2.refresh(token)
        } catch {
            guard RefreshFailure(error).isAnswerLost else { throw error }
            // Once, and without a pause: the time in which the server takes the old refresh token again is running.
            return try await credential.oauth2.refresh(token)
        }
    }

    /// The token as it is stored, which the credential takes over; the credential's own if it was never stored.
    @CredentialActor
    private func storedToken(_ coordinator: any CredentialCoordinator) throws -> Token {
        guard credential.isStored, coordinator.tokenStorage is any SharedTokenStorage else { return credential.token }
        let token = try coordinator.tokenStorage.get(token: credential.id, prompt: nil, authenticationContext: nil)
        credential.adopt(token)
        return token
    }

    private func otherProcessesExcluded(_ coordinator: any CredentialCoordinator) async throws -> (any RefreshLock)? {
        guard credential.isStored, let storage = await coordinator.tokenStorage as? any SharedTokenStorage else { return nil }
        let clock = ContinuousClock()
        let deadline = clock.now.advanced(by: Self.patience)
        while true {
            if let lock = try storage.lockForRefresh(of: credential.id) { return lock }
            guard clock.now < deadline else {
                throw VaultError(
                    .busy, entry: credential.id,
                    "Another process has been refreshing this credential for more than \(Self.patience). Try again, or end that process.")
            }
            try await clock.sleep(for: Self.pause)
        }
    }

    /// Makes the new token durable, then visible.
    @CredentialActor
    private func store(_ token: Token, _ coordinator: any CredentialCoordinator) throws {
        guard credential.isStored else {
            credential.replaceUnstored(with: token)
            return
        }
        // The client's observer has stored it already, as a rule.
        guard credential.token != token else { return }
        do {
            try coordinator.tokenStorage.replace(token: credential.id, with: token, security: nil)
            credential.adopt(token)
        } catch TokenError.cannotReplaceToken {
            // Signed out while the request ran. Nobody will use the new token, so it must not stay good.
            credential.store?.keepForRevocation(token)
            throw CredentialError.missingCoordinator
        }
    }

    private func report(_ error: any Error) {
        let failure = RefreshFailure(error)
        let isNews = credential.note(failure)
        credential.send(.refreshFailed(credential, error))
        if isNews, let ending = failure.ending { credential.send(.sessionEnded(credential, ending)) }
        NotificationCenter.default.post(name: .credentialRefreshFailed, object: credential, userInfo: ["error": error])
    }
}

extension Credential {
    fileprivate var isStored: Bool { state.withLock { $0.isStored } }

    fileprivate func replaceUnstored(with token: Token) {
        state.withLock { state in
            state.token = token
            state.session = .active
        }
        send(.refreshed(self))
    }

    /// Remembers what a failure says of the session.
    ///
    /// - Returns: Whether it has ended just now.
    fileprivate func note(_ failure: RefreshFailure) -> Bool {
        state.withLock { state in
            switch failure.meaning {
            case .ended(let error):
                if case .ended = state.session { return false }
                state.session = .ended(error)
                return true
            case .unreachable(let error):
                state.session = .unreachable(error)
            case .nothing:
                break
            }
            return false
        }
    }
}
