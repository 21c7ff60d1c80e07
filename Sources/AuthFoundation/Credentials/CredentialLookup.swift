public import Foundation

extension Credential {
    /// The store of ``withStorage(_:session:clock:operation:)``, or `nil` for the store of the process.
    @TaskLocal static var scopedStore: CredentialStore?

    static var store: CredentialStore { scopedStore ?? CredentialStore.shared }

    /// The default credential, for apps with one signed-in user.
    ///
    /// The first token in an empty storage becomes the default. Setting a credential that is not stored stores it.
    ///
    /// Setting `nil` only clears the default. The tokens **stay stored and valid**, and the next stored token does not become the default.
    /// To sign the user out, use ``revoke(type:)``. It removes the stored tokens even if the server is unreachable, and also clears the
    /// default.
    ///
    /// A property cannot throw. For an unreadable entry, the getter returns `nil`. A failed write has no effect. Both failures send a
    /// ``Event/storageFailed(_:)``. To handle errors, use ``loadDefault()`` and ``setDefault(_:)``.
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

    /// Returns the default credential, or `nil` if there is none. A throwing variant of ``default``.
    /// - Throws: Storage errors, such as ``VaultError``, if the default credential cannot be read.
    public static func loadDefault() throws -> Credential? {
        try CredentialActor.synchronously { try store.defaultCredential() }
    }

    /// Sets the default credential. A throwing variant of the setter of ``default``.
    /// - Parameter credential: The credential, which is stored if it was never stored, or `nil` for none.
    /// - Throws: ``CredentialError/missingCoordinator`` if the credential was stored and then removed, here or by another process; storage
    ///   errors.
    public static func setDefault(_ credential: Credential?) throws {
        try CredentialActor.synchronously { try store.setDefault(credential) }
    }

    /// The ids of all stored credentials, including unreadable ones.
    public static var allIDs: [String] {
        CredentialActor.synchronously { store.tokenStorage.allIDs }
    }

    /// Returns the stored credential with this id, or `nil` if there is none.
    /// - Parameters:
    ///   - id: The id of the token.
    ///   - prompt: The text that the user sees if the credential must be unlocked.
    ///   - authenticationContext: An authentication that the user has already completed.
    /// - Throws: Storage errors if the credential cannot be read.
    public static func with(
        id: String, prompt: String? = nil, authenticationContext: (any TokenAuthenticationContext)? = nil
    ) throws -> Credential? {
        try CredentialActor.synchronously {
            try store.credential(id: id, prompt: prompt, authenticationContext: authenticationContext)
        }
    }

    /// Returns the stored credentials whose metadata match. The search uses only the metadata (tags and ID token claims) and unlocks only
    /// matching tokens. Entries with unreadable metadata are skipped and send a ``Event/storageFailed(_:)``.
    /// - Parameters:
    ///   - expression: Returns whether the metadata match.
    ///   - prompt: The text that the user sees if a credential must be unlocked.
    ///   - authenticationContext: An authentication that the user has already completed.
    /// - Throws: Storage errors if a matching credential cannot be read.
    public static func find(
        where expression: @escaping @Sendable (Token.Metadata) -> Bool, prompt: String? = nil,
        authenticationContext: (any TokenAuthenticationContext)? = nil
    ) throws -> [Credential] {
        try CredentialActor.synchronously {
            try store.credentials(where: expression, prompt: prompt, authenticationContext: authenticationContext)
        }
    }

    /// Stores a token durably. The first token in an empty storage becomes the ``default``. Pending revocations are retried in the
    /// background.
    /// - Parameters:
    ///   - token: The token.
    ///   - tags: The app's own labels, which ``find(where:prompt:authenticationContext:)`` can use.
    ///   - options: The protection of the stored token.
    /// - Throws: ``TokenError/duplicateTokenAdded`` if the token is already stored; storage errors.
    @discardableResult
    public static func store(
        _ token: Token, tags: [String: String] = [:], security options: [Security] = Security.standard
    ) throws -> Credential {
        try CredentialActor.synchronously { try store.store(token, tags: tags, security: options) }
    }

    /// The data source that creates the credentials.
    @CredentialActor public static var credentialDataSource: any CredentialDataSource {
        get { store.credentialDataSource }
        set { store.credentialDataSource = newValue }
    }

    /// The token storage: the Keychain on Apple platforms, otherwise a ``FileTokenStorage``.
    @CredentialActor public static var tokenStorage: any TokenStorage {
        get { store.tokenStorage }
        set { store.tokenStorage = newValue }
    }

    /// Runs code with its own credential store. All static members use this store, also in tasks that the code starts, but not in detached
    /// tasks. Intended for parallel tests and for programs that serve several users.
    /// - Parameters:
    ///   - storage: The token storage.
    ///   - session: The session for requests, or `nil` for the default session.
    ///   - clock: The clock for refreshes.
    ///   - isolation: The actor on which the code runs; by default the caller's.
    ///   - operation: The code.
    public static func withStorage<T>(
        _ storage: any TokenStorage, session: (any URLSessionProtocol)? = nil, clock: any OAuth2Clock = DeviceClock(),
        isolation: isolated (any Actor)? = #isolation, operation: () async throws -> T
    ) async rethrows -> T {
        let store = CredentialStore(tokenStorage: storage, session: session, clock: clock)
        return try await $scopedStore.withValue(store, operation: operation, isolation: isolation)
    }

    private static let graceInterval = Locked<TimeInterval>(300)

    /// The remaining lifetime in seconds below which a token needs a refresh. The default is 300.
    public static var refreshGraceInterval: TimeInterval {
        get { graceInterval.withLock { $0 } }
        set { graceInterval.withLock { $0 = newValue } }
    }
}

extension Credential {
    /// The state of the server session according to the last refresh.
    public enum SessionState: Sendable {
        /// The last refresh succeeded, or there was none yet.
        case active
        /// The session ended: the server permanently rejected the refresh token (`invalid_grant`), or its DPoP key is lost. The user must
        /// sign in again.
        case ended(OAuth2ServerError)
        /// The last refresh failed for a reason unrelated to the session, such as no network or a server error. Retry later.
        case unreachable(any Error)
    }

    /// The state of the server session according to the last refresh. Only `invalid_grant` and a lost DPoP key end a session, and they
    /// delete nothing. After network errors, server errors and rate limits the credential stays usable. The state is not stored: after a
    /// restart it is ``SessionState/active`` until a refresh fails.
    public var sessionState: SessionState {
        state.withLock { $0.session }
    }
}
