public import Foundation

extension Credential {
    /// The store that the static members use: the process's own, or that of ``withStorage(_:session:clock:operation:)``.
    @TaskLocal static var scopedStore: CredentialStore?

    static var store: CredentialStore { scopedStore ?? CredentialStore.shared }

    /// The default credential: the person who is signed in, for apps with one.
    ///
    /// The first token that is stored while no other is becomes the default by itself. Setting a credential that is not stored stores it.
    ///
    /// Setting nil forgets which credential is the default, **and nothing else**: the tokens stay stored and stay valid on the server, and
    /// since the storage is not empty, the next token stored does not become the default by itself. To sign a person out, use
    /// ``revoke(type:)``, which removes the tokens here even when the server can't be reached; the default is nil after it by itself.
    ///
    /// A getter and a setter can't throw: an entry that can't be read gives nil, a change that can't be written is dropped, and both become
    /// a ``Event/storageFailed(_:)``. ``loadDefault()`` and ``setDefault(_:)`` throw instead.
    public static var `default`: Credential? {
        get {
            do { return try loadDefault() } catch {
                store.broadcaster.send(.storageFailed(error))
                return nil
            }
        }
        set {
            do { try setDefault(newValue) } catch { store.broadcaster.send(.storageFailed(error)) }
        }
    }

    /// The default credential; ``default`` as a function that throws.
    ///
    /// - Returns: nil if there is none.
    /// - Throws: Errors of the storage, such as ``VaultError``, if there is a default one and it can't be read.
    public static func loadDefault() throws -> Credential? {
        try CredentialActor.synchronously { try store.defaultCredential() }
    }

    /// Chooses the default credential; the setter of ``default`` as a function that throws.
    ///
    /// - Parameter credential: The credential, which is stored if it is not; nil for none.
    /// - Throws: Errors of the storage.
    public static func setDefault(_ credential: Credential?) throws {
        try CredentialActor.synchronously { try store.setDefault(credential) }
    }

    /// The ids of all stored credentials, also of those that can't be read.
    public static var allIDs: [String] {
        CredentialActor.synchronously { store.tokenStorage.allIDs }
    }

    /// The stored credential of that id.
    ///
    /// - Parameters:
    ///   - id: The id of its token.
    ///   - prompt: What a person is told if they must unlock it.
    ///   - authenticationContext: An authentication that the person has already made.
    /// - Returns: nil if none is stored under that id.
    /// - Throws: Errors of the storage if it is stored and can't be read.
    public static func with(
        id: String, prompt: String? = nil, authenticationContext: (any TokenAuthenticationContext)? = nil
    ) throws -> Credential? {
        try CredentialActor.synchronously {
            try store.credential(id: id, prompt: prompt, authenticationContext: authenticationContext)
        }
    }

    /// The stored credentials whose metadata fit.
    ///
    /// Looks at the metadata (tags and the id token's claims) only: a token is unlocked if its metadata fit. Entries whose metadata can't be
    /// read are left out and become a ``Event/storageFailed(_:)``.
    ///
    /// - Parameters:
    ///   - expression: Whether a credential fits.
    ///   - prompt: What a person is told if they must unlock one.
    ///   - authenticationContext: An authentication that the person has already made.
    /// - Returns: The credentials.
    /// - Throws: Errors of the storage if one that fits can't be read.
    public static func find(
        where expression: @escaping @Sendable (Token.Metadata) -> Bool, prompt: String? = nil,
        authenticationContext: (any TokenAuthenticationContext)? = nil
    ) throws -> [Credential] {
        try CredentialActor.synchronously {
            try store.credentials(where: expression, prompt: prompt, authenticationContext: authenticationContext)
        }
    }

    /// Stores a token; the first in an empty storage becomes the ``default``.
    ///
    /// It is on disk when this returns. Sign-outs that still wait for the server are tried again in the background.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - tags: The app's own marks, which ``find(where:prompt:authenticationContext:)`` can look for.
    ///   - options: How the token is protected.
    /// - Returns: The credential.
    /// - Throws: ``TokenError/duplicateTokenAdded`` if it is stored already; errors of the storage.
    @discardableResult
    public static func store(
        _ token: Token, tags: [String: String] = [:], security options: [Security] = Security.standard
    ) throws -> Credential {
        try CredentialActor.synchronously { try store.store(token, tags: tags, security: options) }
    }

    /// Makes the credentials of tokens.
    @CredentialActor public static var credentialDataSource: any CredentialDataSource {
        get { store.credentialDataSource }
        set { store.credentialDataSource = newValue }
    }

    /// Keeps the tokens: the Keychain on Apple's platforms, elsewhere a ``FileTokenStorage``.
    @CredentialActor public static var tokenStorage: any TokenStorage {
        get { store.tokenStorage }
        set { store.tokenStorage = newValue }
    }

    /// Runs code with a store of its own: in it, and in the tasks that it starts, all static members use that storage.
    ///
    /// Made for tests that run side by side, and for programs that serve several people. A detached task does not belong to it.
    ///
    /// - Parameters:
    ///   - storage: Keeps the tokens.
    ///   - session: What the credentials' requests go through; nil for the usual session.
    ///   - clock: The time by which credentials are refreshed.
    ///   - isolation: The actor that the code runs on: the caller's.
    ///   - operation: The code.
    /// - Returns: What the code returns.
    /// - Throws: What the code throws.
    public static func withStorage<T>(
        _ storage: any TokenStorage, session: (any URLSessionProtocol)? = nil, clock: any OAuth2Clock = DeviceClock(),
        isolation: isolated (any Actor)? = #isolation, operation: () async throws -> T
    ) async rethrows -> T {
        let store = CredentialStore(tokenStorage: storage, session: session, clock: clock)
        return try await $scopedStore.withValue(store, operation: operation, isolation: isolation)
    }

    private static let graceInterval = Locked<TimeInterval>(300)

    /// How many seconds before its end a token counts as in need of a refresh; 300 unless set.
    public static var refreshGraceInterval: TimeInterval {
        get { graceInterval.withLock { $0 } }
        set { graceInterval.withLock { $0 = newValue } }
    }
}

extension Credential {
    /// What is known of the session on the server, from the last refresh.
    public enum SessionState: Sendable {
        /// The last refresh worked, or there was none yet.
        case active
        /// The server refused the refresh token for good (`invalid_grant`): the person has to sign in again.
        case ended(OAuth2ServerError)
        /// The last refresh failed for a reason that says nothing of the session: no network, a busy or broken server. Worth trying again.
        case unreachable(any Error)
    }

    /// What the last refresh told of the session on the server.
    ///
    /// Only a definite `invalid_grant` ends a session; it deletes nothing. Being offline, errors of the server and rate limits leave
    /// the credential usable. The state is that of this process: after a restart it is ``SessionState/active`` until a refresh says otherwise.
    public var sessionState: SessionState {
        state.withLock { $0.session }
    }
}
