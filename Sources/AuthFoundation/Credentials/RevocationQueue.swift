import Foundation

/// The revocations that the server has not received yet. They are kept in the storage if it supports this, else in memory.
@CredentialActor
final class RevocationQueue {
    /// The retry period in seconds: 90 days. Unused refresh tokens have expired by then.
    static let patience: TimeInterval = 90 * 86_400

    private var inMemory: [String: PendingRevocation] = [:]
    /// The ids of revocations that are being sent, to prevent duplicate requests.
    private var underway: Set<String> = []

    nonisolated init() {}

    /// Adds a revocation. `isUnderway` states whether the caller is already sending it.
    func add(_ revocation: PendingRevocation, isUnderway: Bool, in storage: any TokenStorage) throws {
        if isUnderway { underway.insert(revocation.id) }
        // Keep the revocation in memory until it is stored, or permanently if the storage cannot keep it.
        inMemory[revocation.id] = revocation
        guard let storage = storage as? any PendingRevocationStorage else { return }
        try storage.add(pendingRevocation: revocation)
        inMemory[revocation.id] = nil
    }

    /// Returns the revocations that are not being sent.
    func free(in storage: any TokenStorage) throws -> [PendingRevocation] {
        let stored = try (storage as? any PendingRevocationStorage)?.pendingRevocations() ?? []
        return (stored.filter { inMemory[$0.id] == nil } + inMemory.values).filter { !underway.contains($0.id) }
    }

    /// Returns the revocations that are not being sent and marks them as being sent. Call `settle(_:isDelivered:in:)` for each of them.
    func take(from storage: any TokenStorage) throws -> [PendingRevocation] {
        let free = try free(in: storage)
        underway.formUnion(free.map(\.id))
        return free
    }

    /// Removes a delivered or rejected revocation, or makes an undelivered revocation available for a retry.
    func settle(_ id: String, isDelivered: Bool, in storage: any TokenStorage) throws {
        underway.remove(id)
        guard isDelivered else { return }
        inMemory[id] = nil
        try (storage as? any PendingRevocationStorage)?.removePendingRevocation(id: id)
    }
}

extension CredentialStore {
    /// Removes the credential locally, then revokes its tokens at the server. After a temporary failure the revocation is kept.
    func signOut(_ credential: Credential, type: Token.RevokeType) async throws {
        let storage = tokenStorage
        let token = takeLatestToken(of: credential)
        do {
            let revocation = PendingRevocation(token: token, type: type, queuedAt: clock.now)
            try revocations.add(revocation, isUnderway: true, in: storage)
        } catch {
            // The revocation stays in memory. The local sign-out must proceed in any case.
            broadcaster.send(.storageFailed(error))
        }
        var removalFailure: (any Error)?
        do { if credential.coordinator != nil { try remove(credential: credential) } } catch { removalFailure = error }
        do {
            try await BackgroundActivity.run("Sign-out") { try await credential.oauth2.revoke(token, type: type) }
        } catch {
            settle(token.id, isDelivered: RefreshFailure(error).isRefusal, in: storage)
            throw removalFailure ?? error
        }
        settle(token.id, isDelivered: true, in: storage)
        if let removalFailure { throw removalFailure }
    }

    /// Returns the stored token if possible: another process or a recent refresh may have stored a newer token. If a refreshed token could
    /// not be stored, returns that one, and queues the revocation of the stored token, whose access token is still valid.
    private func takeLatestToken(of credential: Credential) -> Token {
        let stored = storedToken(of: credential)
        guard let kept = unwritten.removeValue(forKey: credential.id), kept.counts(over: stored) else { return stored }
        keepForRevocation(stored)
        return kept.token
    }

    private func storedToken(of credential: Credential) -> Token {
        guard credential.coordinator != nil, tokenStorage is any SharedTokenStorage,
            let stored = try? tokenStorage.get(token: credential.id, prompt: nil, authenticationContext: nil)
        else { return credential.token }
        return stored
    }

    private func settle(_ id: String, isDelivered: Bool, in storage: any TokenStorage) {
        // At worst the revocation is sent twice, which is harmless.
        do { try revocations.settle(id, isDelivered: isDelivered, in: storage) } catch { broadcaster.send(.storageFailed(error)) }
    }

    /// Queues the revocation of a token that arrived after its credential was removed.
    func keepForRevocation(_ token: Token) {
        do {
            // Use another id, because the revocation of the old token has the credential's id and may be pending.
            let late = try Token(id: "\(token.id).late", issuedAt: token.issuedAt, context: token.context, response: token.json)
            try revocations.add(PendingRevocation(token: late, type: .all, queuedAt: clock.now), isUnderway: false, in: tokenStorage)
        } catch {
            broadcaster.send(.storageFailed(error))
        }
        deliverRevocationsInBackground()
    }

    func deliverRevocations() async throws -> Int {
        let storage = tokenStorage
        var firstFailure: (any Error)?
        var delivered = 0
        for revocation in try revocations.take(from: storage) {
            guard clock.now.timeIntervalSince(revocation.queuedAt) < RevocationQueue.patience else {
                settle(revocation.id, isDelivered: true, in: storage)
                continue
            }
            let session = credentialDataSource.urlSession(for: revocation.token)
            let client = OAuth2Client(revocation.token.context.configuration, session: session, clock: clock)
            do {
                try await client.revoke(revocation.token, type: revocation.type)
                settle(revocation.id, isDelivered: true, in: storage)
                delivered += 1
                broadcaster.send(.revocationDelivered(id: revocation.id))
            } catch {
                settle(revocation.id, isDelivered: RefreshFailure(error).isRefusal, in: storage)
                firstFailure = firstFailure ?? error
            }
        }
        if let firstFailure { throw firstFailure }
        return delivered
    }

    /// Retries pending revocations in a new task. Callers use this when the server is probably reachable. Temporary failures are kept.
    func deliverRevocationsInBackground() {
        do {
            guard try !revocations.free(in: tokenStorage).isEmpty else { return }
        } catch {
            broadcaster.send(.storageFailed(error))
            return
        }
        Task.detached { [weak self] in _ = try? await self?.deliverRevocations() }
    }
}
