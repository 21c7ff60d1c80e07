import Foundation

/// A signed-in session: the tokens of one person and one client, stored, refreshed and revoked.
///
/// Safe from any thread or task. What is synchronous here does at most local file or Keychain work and never waits for a task; a wait for
/// another process is bounded, and then throws.
///
/// ```swift
/// let credential = try Credential.store(token)
/// try await credential.refreshIfNeeded()
/// ```
///
/// Two credentials are equal if their tokens are. The same stored token is always the same object, as long as it is stored.
public final class Credential: Equatable, Sendable, OAuth2ClientDelegate {
    struct State {
        var token: Token
        var userInfo: UserInfo?
        var session: SessionState = .active
        weak var coordinator: (any CredentialCoordinator)?
        /// Whether it was given out by the storage, so that a token that is missing there was removed.
        var isStored = false
        var isRemoved = false
        var automaticRefresh: Task<Void, Never>?
    }

    /// The client that the credential's requests go through.
    public let oauth2: OAuth2Client

    /// The identifier of the token, kept over refreshes.
    public let id: String

    let state: Locked<State>
    let refreshes = SingleFlight<String, Void>()
    let userInfoRequests = SingleFlight<String, UserInfo>(endsWhenAbandoned: true)

    /// The tokens, as they are stored.
    public var token: Token {
        state.withLock { $0.token }
    }

    /// A credential of a token that need not be stored.
    ///
    /// - Parameter token: The token; its context tells the client's configuration.
    @CredentialActor
    public convenience init(token: Token) {
        self.init(token: token, coordinator: Credential.store)
    }

    /// A credential of a token that need not be stored, with a client of the app's own.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - client: The client.
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
    ///
    /// - Parameters:
    ///   - lhs: A credential.
    ///   - rhs: A credential.
    /// - Returns: Whether their tokens are equal.
    public static func == (lhs: Credential, rhs: Credential) -> Bool {
        lhs === rhs || lhs.token == rhs.token
    }

    // MARK: - Where it belongs

    /// What the credential belongs to; nil once it is removed.
    var coordinator: (any CredentialCoordinator)? {
        state.withLock { $0.isRemoved ? nil : $0.coordinator }
    }

    /// The store, also of a credential that is removed.
    var store: CredentialStore? {
        state.withLock { $0.coordinator } as? CredentialStore
    }

    func send(_ event: Event) {
        store?.broadcaster.send(event)
    }

    /// Takes over a token that is stored already.
    func adopt(_ token: Token) {
        state.withLock { state in
            guard !state.isRemoved else { return }
            state.isStored = true
            guard token != state.token else { return }
            state.token = token
            state.session = .active
        }
    }

    /// Ends what the credential does by itself, because it is stored no more.
    func detach() {
        let task = state.withLock { state in
            state.isRemoved = true
            defer { state.automaticRefresh = nil }
            return state.automaticRefresh
        }
        task?.cancel()
    }
}
