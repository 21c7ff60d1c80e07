import Foundation

/// A signed-in session: the stored tokens of one user and one client, with refresh and revocation.
///
/// ```swift
/// let credential = try Credential.store(token)
/// try await credential.refreshIfNeeded()
/// ```
///
/// Safe from any thread or task. Synchronous members perform only local file or Keychain work. They wait for other processes only for a
/// limited time, and then throw. Two credentials are equal if their tokens are equal. While a token is stored, it always has the same
/// credential object.
public final class Credential: Equatable, Sendable, OAuth2ClientDelegate {
    struct State {
        var token: Token
        var userInfo: UserInfo?
        var session: SessionState = .active
        weak var coordinator: (any CredentialCoordinator)?
        /// Whether the storage contained the token. If the storage lacks it later, the token was removed.
        var isStored = false
        var isRemoved = false
        var automaticRefresh: Task<Void, Never>?
        var lock = CredentialLockState()
    }

    /// The client that sends the credential's requests.
    public let oauth2: OAuth2Client

    /// The identifier of the token. It does not change on refresh.
    public let id: String

    let state: Locked<State>
    /// The running refresh. Its result is the current token with its secrets. The credential's own token has none while it is locked.
    let refreshes = SingleFlight<String, Token>()
    let userInfoRequests = SingleFlight<String, UserInfo>(endsWhenAbandoned: true)

    /// The current tokens. Those of a locked credential contain no secrets; see ``isLocked``.
    public var token: Token {
        lockIfAbsent()
        return state.withLock { $0.token }
    }

    /// Creates a credential for a token, stored or not. The token's context contains the client's configuration.
    @CredentialActor
    public convenience init(token: Token) {
        self.init(token: token, coordinator: Credential.store)
    }

    /// Creates a credential for a token, stored or not, with the app's own client.
    /// - Throws: ``CredentialError/incorrectClientConfiguration`` if the token was issued to another client.
    @CredentialActor
    public convenience init(token: Token, oauth2 client: OAuth2Client) throws {
        guard client.configuration.clientId == token.context.configuration.clientId,
            client.configuration.issuerURL == token.context.configuration.issuerURL
        else { throw CredentialError.incorrectClientConfiguration }
        self.init(token: token, oauth2: client, coordinator: Credential.store)
    }

    @CredentialActor
    convenience init(token: Token, coordinator: any CredentialCoordinator) {
        let session = coordinator.credentialDataSource.urlSession(for: token)
        let clock = (coordinator as? CredentialStore)?.clock ?? DeviceClock()
        self.init(
            token: token, oauth2: OAuth2Client(token.context.configuration, session: session, clock: clock), coordinator: coordinator)
    }

    @CredentialActor
    init(token: Token, oauth2 client: OAuth2Client, coordinator: any CredentialCoordinator) {
        id = token.id
        oauth2 = client
        state = Locked(State(token: token, coordinator: coordinator))
        client.add(delegate: self)
        coordinator.observe(oauth2: client)
    }

    deinit {
        state.withLock { $0.automaticRefresh }?.cancel()
    }

    /// Whether the tokens are equal.
    public static func == (lhs: Credential, rhs: Credential) -> Bool {
        lhs === rhs || lhs.token == rhs.token
    }

    /// The coordinator of the credential, or `nil` after removal.
    var coordinator: (any CredentialCoordinator)? {
        state.withLock { $0.isRemoved ? nil : $0.coordinator }
    }

    /// The store, also after removal; `nil` if the coordinator is not a store or no longer exists.
    var store: CredentialStore? {
        state.withLock { $0.coordinator } as? CredentialStore
    }

    func send(_ event: Event) {
        store?.broadcaster.send(event)
    }

    /// Replaces the token with a token that is already stored. No-op after removal.
    func adopt(_ token: Token) {
        state.withLock { state in
            guard !state.isRemoved else { return }
            state.isStored = true
            if state.lock.isLocked { state.lock.changes += 1 }
            guard !state.lock.isLocked, token != state.token else { return }
            state.token = token
            state.session = .active
        }
    }

    /// Stops the background work after the credential was removed from the storage.
    func detach() {
        let task = state.withLock { state in
            state.isRemoved = true
            defer { state.automaticRefresh = nil }
            return state.automaticRefresh
        }
        task?.cancel()
    }
}
