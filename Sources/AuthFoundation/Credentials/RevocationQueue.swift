/// The sign-outs that the server does not know of yet: in the storage if it can keep them, else in memory.
@CredentialActor
final class RevocationQueue {
    private var inMemory: [String: PendingRevocation] = [:]
    /// Those that are on their way, so that nobody sends them twice.
    private var underway: Set<String> = []

    nonisolated init() {}

    /// Keeps a sign-out, on its way or not.
    func add(_ revocation: PendingRevocation, isUnderway: Bool, in storage: any TokenStorage) throws {
        if isUnderway { underway.insert(revocation.id) }
        if let storage = storage as? any PendingRevocationStorage {
            try storage.add(pendingRevocation: revocation)
        } else {
            inMemory[revocation.id] = revocation
        }
    }

    /// Those that are not on their way.
    func free(in storage: any TokenStorage) throws -> [PendingRevocation] {
        let stored = try (storage as? any PendingRevocationStorage)?.pendingRevocations() ?? []
        return (stored + inMemory.values).filter { !underway.contains($0.id) }
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
    func signOut(_ credential: Credential, token: Token, type: Token.RevokeType) async throws {
        let storage = tokenStorage
        var localFailure: (any Error)?
        do {
            let revocation = PendingRevocation(token: token, type: type, queuedAt: clock.now)
            try revocations.add(revocation, isUnderway: true, in: storage)
        } catch { localFailure = error }
        // Although it could not be kept for later: who signs out must be signed out.
        do { if credential.coordinator != nil { try remove(credential: credential) } } catch { localFailure = error }
        do {
            try await credential.oauth2.revoke(token, type: type)
        } catch {
            try revocations.settle(token.id, isDelivered: RefreshFailure(error).isRefusal, in: storage)
            throw localFailure ?? error
        }
        try revocations.settle(token.id, isDelivered: true, in: storage)
        if let localFailure { throw localFailure }
    }

    /// Keeps a token that came when its credential was gone.
    func keepForRevocation(_ token: Token) {
        do {
            try revocations.add(PendingRevocation(token: token, type: .all, queuedAt: clock.now), isUnderway: false, in: tokenStorage)
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
            let session = credentialDataSource.urlSession(for: revocation.token)
            let client = OAuth2Client(revocation.token.context.configuration, session: session, clock: clock)
            do {
                try await client.revoke(revocation.token, type: revocation.type)
                try revocations.settle(revocation.id, isDelivered: true, in: storage)
                delivered += 1
                broadcaster.send(.revocationDelivered(id: revocation.id))
            } catch {
                try? revocations.settle(revocation.id, isDelivered: RefreshFailure(error).isRefusal, in: storage)
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
