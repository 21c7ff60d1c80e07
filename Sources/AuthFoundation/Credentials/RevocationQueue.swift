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
    /// - Parameter known: The newest token that the caller knows, with its secrets. A locked credential has none.
    func signOut(_ credential: Credential, _ known: Token, type: Token.RevokeType) async throws {
        let storage = tokenStorage
        let token = takeLatestToken(of: credential, over: await storedToken(of: credential) ?? known)
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

    /// Returns the token to revoke. If a refreshed token could not be stored, returns that one, and queues the revocation of the stored
    /// token, whose access token is still valid.
    private func takeLatestToken(of credential: Credential, over stored: Token) -> Token {
        guard let kept = unwritten.removeValue(forKey: credential.id), kept.counts(over: stored) else { return stored }
        keepForRevocation(stored)
        return kept.token
    }

    /// Returns the stored token if it can be read: another process may have stored a newer token.
    private func storedToken(of credential: Credential) async -> Token? {
        guard credential.coordinator != nil, let shared = tokenStorage as? any SharedTokenStorage else { return nil }
        if let token = try? shared.storedToken(id: credential.id, mayAsk: false) { return token }
        // A locked credential does not ask the user.
        return credential.isLocked ? nil : try? await shared.readToken(id: credential.id, prompt: nil)
    }

    private func settle(_ id: String, isDelivered: Bool, in storage: any TokenStorage) {
        // At worst the revocation is sent twice, which is harmless.
        do { try revocations.settle(id, isDelivered: isDelivered, in: storage) } catch { broadcaster.send(.storageFailed(error)) }
    }

    /// Queues the revocation of a token that arrived after its credential was removed.
    func keepForRevocation(_ token: Token) {
        do {
            let revocation = try PendingRevocation(late: token, queuedAt: clock.now)
            try revocations.add(revocation, isUnderway: false, in: tokenStorage)
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
