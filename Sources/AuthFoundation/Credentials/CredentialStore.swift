import Foundation

/// The default coordinator: connects one token storage, its credentials and their observers.
@CredentialActor
package final class CredentialStore: CredentialCoordinator {
    /// The store of the process. It uses the Keychain if available, else the encrypted vault.
    package nonisolated static let shared = CredentialStore(tokenStorage: usualStorage)

    nonisolated let broadcaster = CredentialEventBroadcaster()
    nonisolated let clock: any OAuth2Clock

    package var credentialDataSource: any CredentialDataSource {
        get { currentDataSource }
        set {
            currentDataSource = newValue
            currentDataSource.delegate = self
        }
    }

    package var tokenStorage: any TokenStorage {
        get { currentStorage }
        set {
            currentStorage = newValue
            known = [:]
            unwritten = [:]
            listenToStorage()
        }
    }

    private var currentDataSource: any CredentialDataSource
    private var currentStorage: any TokenStorage

    let revocations = RevocationQueue()
    private let observer: ClientObserver
    /// The credentials that were returned to callers or sent as events, by id. Removed credentials are not included.
    private var known: [String: Credential] = [:]
    /// The refreshed tokens that could not be stored yet, by id.
    var unwritten: [String: UnwrittenToken] = [:]
    var isObservingUnlock = false

    private nonisolated static var usualStorage: any TokenStorage {
        #if canImport(Security)
        KeychainTokenStorage()
        #else
        FileTokenStorage()
        #endif
    }

    package nonisolated init(
        tokenStorage: any TokenStorage, session: (any URLSessionProtocol)? = nil, clock: any OAuth2Clock = DeviceClock()
    ) {
        currentStorage = tokenStorage
        self.clock = clock
        currentDataSource = DefaultCredentialDataSource(session: session)
        observer = ClientObserver()
        CredentialActor.synchronously {
            observer.store = self
            currentDataSource.delegate = self
            listenToStorage()
        }
    }

    private func listenToStorage() {
        currentStorage.delegate = self
        (currentStorage as? any SharedTokenStorage)?.onFailure = { [weak broadcaster] in broadcaster?.send(.storageFailed($0)) }
    }

    func defaultCredential() throws -> Credential? {
        guard let id = try storedDefaultID() else { return nil }
        if let locked = locked(id) { return locked }
        if let shared = tokenStorage as? any SharedTokenStorage {
            do { return credential(for: try shared.storedToken(id: id)) } catch TokenError.tokenNotFound, KeychainError.notFound {
                forget(id)
                return nil
            }
        }
        if let credential = known[id] { return credential }
        return try credential(id: id, prompt: nil, authenticationContext: nil)
    }

    func credential(
        id: String, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?
    ) throws -> Credential? {
        if let locked = locked(id) { return locked }
        do {
            return credential(for: try tokenStorage.get(token: id, prompt: prompt, authenticationContext: authenticationContext))
        } catch TokenError.tokenNotFound {
            forget(id)
            return nil
        } catch {
            guard case KeychainError.notFound = error else { throw error }
            forget(id)
            return nil
        }
    }

    /// A locked credential is returned without a read, which would ask the user.
    private func locked(_ id: String) -> Credential? {
        guard let credential = known[id], credential.isLocked else { return nil }
        return credential
    }

    func credentials(
        where expression: (Token.Metadata) -> Bool, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?
    ) throws -> [Credential] {
        try storedIDs().compactMap { id in
            let metadata: Token.Metadata
            do {
                metadata = try tokenStorage.metadata(for: id)
            } catch {
                broadcaster.send(.storageFailed(error))
                return nil
            }
            guard expression(metadata) else { return nil }
            return try credential(id: id, prompt: prompt, authenticationContext: authenticationContext)
        }
    }

    /// The default token's id. A storage that cannot be read is not mistaken for one without a default.
    func storedDefaultID() throws -> String? {
        guard let shared = tokenStorage as? any SharedTokenStorage else { return tokenStorage.defaultTokenID }
        return try shared.readDefaultTokenID()
    }

    /// The ids of all tokens. A storage that cannot be read is not mistaken for an empty one.
    func storedIDs() throws -> [String] {
        guard let shared = tokenStorage as? any SharedTokenStorage else { return tokenStorage.allIDs }
        return try shared.readAllIDs()
    }

    /// Returns the credential of a token that was just read or stored.
    private func credential(for stored: Token) -> Credential {
        let token = tokenAfterRead(stored)
        let credential = credentialDataSource.credential(for: token, coordinator: self)
        credential.adopt(token)
        known[token.id] = credential
        return credential
    }

    func store(_ token: Token, tags: [String: String], security: [Credential.Security]) throws -> Credential {
        let wasEmpty = try storedIDs().isEmpty
        try tokenStorage.add(token: token, metadata: Token.Metadata(token: token, tags: tags), security: security)
        // A custom storage may not make the first token the default.
        if wasEmpty, tokenStorage.defaultTokenID == nil { try tokenStorage.setDefaultTokenID(token.id) }
        deliverRevocationsInBackground()
        return credential(for: token)
    }

    /// Posts the notification that the session of another SDK became this credential.
    func announceMigration(of token: Token) { postOnMainActor(.credentialMigrated, credential(for: token)) }

    func setDefault(_ credential: Credential?) throws {
        guard let credential else { return try tokenStorage.setDefaultTokenID(nil) }
        if try !storedIDs().contains(credential.id) {
            // A credential that this storage contained was removed, perhaps by another process: the user has signed out.
            guard !credential.state.withLock(\.isRemoved), known[credential.id] == nil else { throw CredentialError.missingCoordinator }
            _ = try store(credential.unlockedToken(), tags: [:], security: Credential.Security.standard)
        } else if known[credential.id] == nil {
            // The event of the new default contains a known credential. If the stored token cannot be read now, the event contains none.
            _ = try? self.credential(id: credential.id, prompt: nil, authenticationContext: nil)
        }
        try tokenStorage.setDefaultTokenID(credential.id)
    }

    package func remove(credential: Credential) throws {
        try tokenStorage.remove(id: credential.id)
        forget(credential.id)
        credential.detach()
    }

    /// Returns the credential with this id, if callers know it.
    func credential(withID id: String) -> Credential? { known[id] }

    private func forget(_ id: String) {
        revokeUnwritten(id)
        guard let credential = known.removeValue(forKey: id) else { return }
        credential.detach()
        credentialDataSource.remove(credential: credential)
    }

    package nonisolated func observe(oauth2 client: OAuth2Client) {
        client.add(delegate: observer)
    }

    /// Stores a token that a client refreshed, before any caller receives it.
    fileprivate func take(_ newToken: Token, replacing oldToken: Token) {
        guard let credential = known[newToken.id], credential.token != newToken else { return }
        do {
            credential.adopt(try tokenStorage.storeRefreshed(newToken, replacing: oldToken))
        } catch {
            if !UnwrittenToken.isRemoval(error) { keepUnwritten(newToken, replacing: oldToken) }
            // A credential's own refresh retries the write and throws the error.
            if !credential.isRefreshing { broadcaster.send(.storageFailed(error)) }
        }
    }
}

extension CredentialStore: TokenStorageDelegate {
    package func token(storage: any TokenStorage, defaultChanged id: String?) {
        let credential = id.flatMap { known[$0] }
        broadcaster.send(.defaultChanged(credential))
        postOnMainActor(.defaultCredentialChanged, credential)
    }

    package func token(storage: any TokenStorage, added id: String, token: Token) {
        broadcaster.send(.stored(credential(for: token)))
    }

    package func token(storage: any TokenStorage, removed id: String) {
        guard let credential = known[id] else { return }
        forget(id)
        broadcaster.send(.removed(credential))
    }

    package func token(storage: any TokenStorage, replaced id: String, with newToken: Token) {
        // The app can also replace a token by the old one, such as to change its protection. Then the kept token must still be written.
        if unwritten[id]?.counts(over: newToken) != true { unwritten[id] = nil }
        guard let credential = known[id] else { return }
        credential.adopt(newToken)
        broadcaster.send(.refreshed(credential))
    }
}

extension CredentialStore: CredentialDataSourceDelegate {
    package func credential(dataSource: any CredentialDataSource, created credential: Credential) {
        postOnMainActor(.credentialCreated, credential)
    }

    package func credential(dataSource: any CredentialDataSource, removed credential: Credential) {
        postOnMainActor(.credentialRemoved, credential)
    }
}

/// Posts asynchronously, because observers must not run while the credentials are locked.
func postOnMainActor(_ name: Notification.Name, _ credential: Credential?) {
    Task { @MainActor in
        NotificationCenter.default.post(name: name, object: credential)
    }
}

private final class ClientObserver: OAuth2ClientDelegate {
    private struct Weak {
        weak var store: CredentialStore?
    }

    private let reference = Locked(Weak())

    var store: CredentialStore? {
        get { reference.withLock { $0.store } }
        set { reference.withLock { $0.store = newValue } }
    }

    func oauth(client: OAuth2Client, didRefresh token: Token, replacedWith newToken: Token?) {
        guard let newToken, let store else { return }
        // Synchronous, so that the token is stored before the client's caller receives it.
        CredentialActor.synchronously { store.take(newToken, replacing: token) }
    }
}
