public import Foundation

extension Credential {
    /// Refreshes the tokens with the refresh token and stores the new tokens.
    ///
    /// Concurrent calls share one request and return after the new token is stored. Cancelling one call affects neither the other calls nor
    /// the request. If several processes share the storage, one refreshes and the others use its result. If the response is lost, the
    /// request is repeated once; servers accept the old refresh token for some seconds.
    ///
    /// If the new token cannot be stored, for example on a full disk, the call throws and the credential keeps the old token. The new one
    /// stays in memory until the next refresh or read of the credential can store it. Such a refresh sends no request, unless the new token
    /// has expired meanwhile. If another process has stored a later token, that token is used instead.
    ///
    /// A failure keeps the old token. It sends ``Event/refreshFailed(_:_:)``, and ``sessionState`` shows the consequence. If the failure
    /// ends the session (`invalid_grant` or a lost DPoP key), ``Event/sessionEnded(_:_:)`` follows.
    /// - Throws: ``OAuth2Error/missingToken(type:)`` if there is no refresh token; ``CredentialError/missingCoordinator`` if the credential
    ///   was removed; ``CredentialLockedError``; network, server and storage errors; `CancellationError`.
    public func refresh() async throws {
        try requireUnlocked()
        _ = try await refreshes.value(for: id) { [self] in try await RefreshFlight(credential: self).run() }
    }

    /// Refreshes the tokens if they have expired or will expire soon.
    /// - Parameter graceInterval: The minimum remaining lifetime in seconds. A token with a shorter total lifetime is refreshed on every
    ///   call. A token with unknown expiry is not refreshed.
    /// - Throws: The errors of ``refresh()``.
    public func refreshIfNeeded(graceInterval: TimeInterval = Credential.refreshGraceInterval) async throws {
        try requireUnlocked()
        guard needsRefresh(within: graceInterval) else { return }
        takeOverStoredToken()
        guard needsRefresh(within: graceInterval) else { return }
        try await refresh()
    }

    /// Loads the stored token, which another process may have refreshed.
    private func takeOverStoredToken() {
        guard isStored, let coordinator else { return }
        CredentialActor.synchronously {
            // Ignore read errors here; the refresh that follows throws them, or asks the user.
            guard let shared = coordinator.tokenStorage as? any SharedTokenStorage,
                let token = try? shared.storedToken(id: id, mayAsk: false)
            else {
                return
            }
            adopt(store?.tokenAfterRead(token) ?? token)
        }
    }

    var isRefreshing: Bool { refreshes.isRunning(id) }

    func needsRefresh(within graceInterval: TimeInterval) -> Bool {
        guard let expiresAt = token.expiresAt else { return false }
        return expiresAt.timeIntervalSince(oauth2.now) <= graceInterval
    }
}

/// One refresh, shared by all concurrent callers.
private struct RefreshFlight: Sendable {
    /// The maximum time to wait for a refresh by another process.
    private static let patience = Duration.seconds(60)
    /// The interval between attempts to get the lock.
    private static let pause = Duration.milliseconds(20)
    /// The number of attempts under the lock. A suspended process can lose the lock.
    private static let attempts = 3

    let credential: Credential

    func run() async throws -> Token {
        defer { credential.forgetTokenIfLocked() }
        do {
            return try await BackgroundActivity.run("Refresh of a session") { try await refresh() }
        } catch {
            report(error)
            throw error
        }
    }

    private func refresh() async throws -> Token {
        guard let coordinator = credential.coordinator else { throw CredentialError.missingCoordinator }
        // Another process may have stored a newer token. Start with the stored token.
        let before = try await currentToken(coordinator)
        // These requests precede the lock, because they can outlast the lease of a Keychain. A failure matters only if a refresh is needed.
        let preparation = await Result(of: { [credential] in try await credential.oauth2.prepareRefresh(of: before) })
        var attempts = Self.attempts
        while true {
            let lock = try await otherProcessesExcluded(coordinator)
            defer { lock?.release() }
            attempts -= 1
            do {
                return try await refresh(before, under: lock, preparation, coordinator)
            } catch let error as VaultError where error.code == .busy && attempts > 0 && lock?.renew() == false {
                // Another process has taken over the lock. Start again with the token that it stores.
            }
        }
    }

    /// Refreshes the token, unless the stored token is no longer `before`. Returns the current token.
    private func refresh(
        _ before: Token, under lock: (any RefreshLock)?, _ preparation: Result<OpenIdConfiguration, any Error>,
        _ coordinator: any CredentialCoordinator
    ) async throws -> Token {
        let stored = try await currentToken(coordinator)
        let token = try await unwrittenToken(over: stored)
        // Another process refreshed the token during the wait.
        guard stored == before else { return token }
        // An earlier refresh could not store this token.
        if token != stored, !isDue(token) { return token }
        guard token.refreshToken != nil else { throw OAuth2Error.missingToken(type: .refreshToken) }
        _ = try preparation.get()
        let new: Token
        do {
            let received = try await request(token, lock)
            do {
                new = try await store(received, replacing: token, coordinator)
            } catch {
                await keep(received, replacing: token, after: error)
                throw error
            }
        } catch {
            // A process that does not use the lock may have refreshed the token.
            if let stored = try? await currentToken(coordinator), stored != token { return stored }
            throw error
        }
        await credential.store?.deliverRevocationsInBackground()
        return new
    }

    private func request(_ token: Token, _ lock: (any RefreshLock)?) async throws -> Token {
        // If the lock is lost, another process uses the refresh token, and the server would treat a second use as theft.
        let renewLock = { @Sendable [id = credential.id] in
            guard lock?.renew() == false else { return }
            throw VaultError(.busy, entry: id, "Another process has taken over the refresh of this credential. Try again.")
        }
        do {
            return try await credential.oauth2.refresh(token, onCondition: renewLock)
        } catch {
            guard RefreshFailure(error).isAnswerLost, lock?.renew() != false else { throw error }
            // Retry once without delay, because the server accepts the old refresh token only for a short time.
            return try await credential.oauth2.refresh(token, onCondition: renewLock)
        }
    }

    /// Returns the stored token with its secrets, and updates the credential with it. Returns the credential's own token if the token was
    /// never stored, or if the storage is not a ``SharedTokenStorage``. Throws ``CredentialLockedError`` if the credential is locked and its
    /// token cannot be read without the user.
    @CredentialActor
    private func currentToken(_ coordinator: any CredentialCoordinator) async throws -> Token {
        guard credential.isStored, let shared = coordinator.tokenStorage as? any SharedTokenStorage else {
            return try credential.unlockedToken()
        }
        do {
            let token: Token
            do { token = try shared.storedToken(id: credential.id, mayAsk: false) } catch let error as KeychainError where error.isLocked {
                // Another process has changed a token that only the user can unlock.
                try credential.requireUnlocked()
                token = try await shared.readToken(id: credential.id, prompt: nil)
            }
            credential.adopt(token)
            return token
        } catch {
            if UnwrittenToken.isRemoval(error) { credential.store?.revokeUnwritten(credential.id) }
            throw error
        }
    }

    /// Writes the token of an earlier refresh that could not be stored. Returns the token that is stored now.
    @CredentialActor
    private func unwrittenToken(over stored: Token) throws -> Token {
        do {
            let token = try credential.store?.writeUnwritten(over: stored) ?? stored
            if token != stored { credential.adopt(token) }
            return token
        } catch TokenError.cannotReplaceToken {
            throw CredentialError.missingCoordinator
        }
    }

    private func isDue(_ token: Token) -> Bool {
        RefreshSchedule().isDue(for: token, now: credential.oauth2.now, graceInterval: Credential.refreshGraceInterval)
    }

    /// Keeps a new token that could not be stored, or revokes it if the session was removed.
    @CredentialActor
    private func keep(_ token: Token, replacing replaced: Token, after error: any Error) {
        guard credential.isStored, let store = credential.store else { return }
        // With this error, the new token is already queued for revocation.
        if case CredentialError.missingCoordinator = error { return }
        if UnwrittenToken.isRemoval(error) { store.keepForRevocation(token) } else { store.keepUnwritten(token, replacing: replaced) }
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

    /// Stores the new token durably before the credential returns it. Returns the current token.
    @CredentialActor
    private func store(_ token: Token, replacing old: Token, _ coordinator: any CredentialCoordinator) throws -> Token {
        guard credential.isStored else {
            credential.replaceUnstored(with: token)
            return token
        }
        // The client's observer has usually stored the token already.
        guard credential.token != token else { return token }
        do {
            let stored = try coordinator.tokenStorage.storeRefreshed(token, replacing: old)
            credential.adopt(stored)
            return stored
        } catch  where UnwrittenToken.isRemoval(error) {
            // The user signed out during the request. Revoke the new token, because no caller receives it.
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

extension Token {
    /// Whether the server issued this token after another one of the same session.
    func isNewer(than other: Token) -> Bool { (issuedAt ?? .distantPast) > (other.issuedAt ?? .distantPast) }
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

    /// Updates the session state after a failure. Returns whether the session has just ended.
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
