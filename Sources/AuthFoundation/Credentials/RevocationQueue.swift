import Foundation

/// The sign-outs that the server does not know of yet: in the storage if it can keep them, else in memory.
@CredentialActor
final class RevocationQueue {
    /// For how many seconds to try: 90 days, after which no refresh token lives that was not used.
    static let patience: TimeInterval = 90 * 86_400

    private var inMemory: [String: PendingRevocation] = [:]
    /// Those that are on their way, so that nobody sends them twice.
    private var underway: Set<String> = []

    nonisolated init() {}

    /// Keeps a sign-out, on its way or not.
    func add(_ revocation: PendingRevocation, isUnderway: Bool, in storage: any TokenStorage) throws {
        if isUnderway { underway.insert(revocation.id) }
        // Until the storage has it, and for good if it can't: better lost with the process than at once.
        inMemory[revocation.id] = revocation
        guard let storage = storage as? any PendingRevocationStorage else { return }
        try storage.add(pendingRevocation: revocation)
        inMemory[revocation.id] = nil
    }

    /// Those that are not on their way.
    func free(in storage: any TokenStorage) throws -> [PendingRevocation] {
        let stored = try (storage as? any PendingRevocationStorage)?.pendingRevocations() ?? []
        return (stored.filter { inMemory[$0.id] == nil } + inMemory.values).filter { !underway.contains($0.id) }
    }

    /// Takes all that are not on their way; each must be settled.
    func take(from storage: any TokenStorage) throws -> [PendingRevocation] {
        let free = try free(in: storage)
        underway.formUnion(free.map(\.id))
        return free
    }

    /// Forgets a sign-out that was delivered, and keeps one that was not.
    func settle(_ id: String, isDelivered: Bool, in storage: any TokenStorage) throws {
        underway.remove(id)
        guard isDelivered else { return }
        inMemory[id] = nil
        try (storage as? any PendingRevocationStorage)?.removePendingRevocation(id: id)
    }
}

extension CredentialStore {
    /// Removes the credential here, then tells the server; keeps what could not be delivered.
    func signOut(_ credential: Credential, type: Token.RevokeType) async throws {
        let storage = tokenStorage
        let token = latestToken(of: credential)
        do {
            let revocation = PendingRevocation(token: token, type: type, queuedAt: clock.now)
            try revocations.add(revocation, isUnderway: true, in: storage)
        } catch {
            // Kept in memory then. Who signs out must be signed out all the same.
            broadcaster.send(.storageFailed(error))
        }
        var removalFailure: (any Error)?
        do { if credential.coordinator != nil { try remove(credential: credential) } } catch { removalFailure = error }
        do {
            try await credential.oauth2.revoke(token, type: type)
        } catch {
            settle(token.id, isDelivered: RefreshFailure(error).isRefusal, in: storage)
            throw removalFailure ?? error
        }
        settle(token.id, isDelivered: true, in: storage)
        if let removalFailure { throw removalFailure }
    }

    /// Another process, or a refresh that ended just now, may have stored a newer token than the credential knows.
    private func latestToken(of credential: Credential) -> Token {
        guard credential.coordinator != nil, tokenStorage is any SharedTokenStorage,
            let stored = try? tokenStorage.get(token: credential.id, prompt: nil, authenticationContext: nil)
        else { return credential.token }
        return stored
    }

    private func settle(_ id: String, isDelivered: Bool, in storage: any TokenStorage) {
        // At worst it is delivered twice, which does no harm.
        do { try revocations.settle(id, isDelivered: isDelivered, in: storage) } catch { broadcaster.send(.storageFailed(error)) }
    }

    /// Keeps a token that came when its credential was gone.
    func keepForRevocation(_ token: Token) {
        do {
            // Under an id of its own: the sign-out of the old token has the credential's, and may be on its way or wait still.
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

    /// Seizes the occasion that the server may be reachable. What fails stays kept, and is tried on the next occasion.
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
