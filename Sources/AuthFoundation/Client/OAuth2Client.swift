public import Foundation

/// A client of one issuer: discovery, tokens, profile and revocation (OAuth 2.0 and OpenID Connect 1.0). The client fetches the discovery
/// document and the issuer's keys once and keeps them. Concurrent callers share one request. Safe from any thread or task. Cancelling a
/// task also cancels its requests. Exceptions are refreshes, and requests that other callers share.
public final class OAuth2Client: APIClient, UsesDelegateCollection, Sendable {
    /// The type of the client's observers.
    public typealias Delegate = OAuth2ClientDelegate

    struct State {
        var additionalHttpHeaders: [String: String]?
        var openIdConfiguration: OpenIdConfiguration?
        var jwks: JWKS?
        var keysRefetchedAt: Date?
        /// The number of seconds by which the server's clock is ahead of the device, or `nil` before the first response.
        var clockOffset: TimeInterval?
        /// The key for DPoP proofs, or `nil` until it is first needed.
        var dpopKey: DPoPKey?
        /// The latest DPoP nonce of each server, by origin.
        var dpopNonces: [String: String] = [:]
    }

    private static let sharedDefaultSession = Locked<(any URLSessionProtocol)?>(nil)

    /// The session of clients that are created later without a session of their own. `nil` stands for a session without cookies.
    public static var defaultSession: (any URLSessionProtocol)? {
        get { sharedDefaultSession.withLock { $0 } }
        set { sharedDefaultSession.withLock { $0 = newValue } }
    }

    /// The session that sends the requests.
    public let session: any URLSessionProtocol

    /// The client's settings.
    public let configuration: Configuration

    /// The clock for reading the time and for waiting.
    public let clock: any OAuth2Clock

    /// The observers of the client.
    public let delegateCollection = DelegateCollection<any OAuth2ClientDelegate>()

    /// The storage of the key to which tokens are bound.
    let dpopKeys: any DPoPKeyStorage

    let randomness: Randomness
    let state = Locked(State())
    let discoveries = SingleFlight<URL, OpenIdConfiguration>(endsWhenAbandoned: true)
    let keyFetches = SingleFlight<KeyFetch, JWKS>(endsWhenAbandoned: true)
    let refreshes = SingleFlight<RefreshKey, Token>()

    /// The identity of a refresh. Concurrent refreshes with the same identity share one request.
    struct RefreshKey: Hashable, Sendable {
        let id: String
        let refreshToken: String
        let scope: [String]?
    }

    /// Headers that are added to every request.
    public var additionalHttpHeaders: [String: String]? {
        get { state.withLock { $0.additionalHttpHeaders } }
        set { state.withLock { $0.additionalHttpHeaders = newValue } }
    }

    /// The issuer.
    public var baseURL: URL { configuration.issuerURL }

    /// The discovery document, or `nil` if it is not fetched yet.
    public var openIdConfiguration: OpenIdConfiguration? { state.withLock { $0.openIdConfiguration } }

    /// The issuer's keys, or `nil` if they are not fetched yet.
    public var jwks: JWKS? { state.withLock { $0.jwks } }

    /// The current time of the server's clock. Before the first response, the time of the client's clock.
    public var now: Date {
        clock.now.addingTimeInterval(clockOffset ?? 0)
    }

    /// The number of seconds by which the server's clock is ahead of the client's, or `nil` before the first response.
    public var clockOffset: TimeInterval? { state.withLock { $0.clockOffset } }

    /// Creates a client.
    /// - Parameters:
    ///   - configuration: The settings.
    ///   - session: The session that sends the requests, or `nil` for ``defaultSession``; if that is `nil` too, a session without cookies.
    ///   - clock: The clock for reading the time and for waiting.
    public convenience init(
        _ configuration: Configuration, session: (any URLSessionProtocol)? = nil, clock: any OAuth2Clock = DeviceClock()
    ) {
        self.init(configuration, session: session, clock: clock, randomness: .system)
    }

    /// Creates a client with its own storage of DPoP keys. Not public: a client that is restored from a stored token uses the default
    /// storage, and would not find its key.
    package convenience init(
        _ configuration: Configuration, session: (any URLSessionProtocol)? = nil, clock: any OAuth2Clock = DeviceClock(),
        dpopKeys: any DPoPKeyStorage
    ) {
        self.init(configuration, session: session, clock: clock, randomness: .system, dpopKeys: dpopKeys)
    }

    package init(
        _ configuration: Configuration, session: (any URLSessionProtocol)?, clock: any OAuth2Clock, randomness: Randomness,
        dpopKeys: (any DPoPKeyStorage)? = nil
    ) {
        self.dpopKeys = dpopKeys ?? Self.defaultDPoPKeyStorage
        self.configuration = configuration
        self.session = session ?? Self.defaultSession ?? EphemeralSession.shared
        self.clock = clock
        self.randomness = randomness
        NotificationCenter.default.post(name: .oauth2ClientCreated, object: self)
    }

    /// Creates a client with the settings of a property list.
    /// - Throws: ``PropertyListConfigurationError/invalidConfiguration(name:value:)`` if the issuer is invalid.
    public convenience init(_ config: PropertyListConfiguration) throws {
        self.init(try Configuration(plist: config))
    }

    /// Creates a client.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client identifier registered with the issuer.
    ///   - scope: The requested scopes.
    ///   - redirectUri: The URI to which the browser returns after a sign-in.
    ///   - logoutRedirectUri: The URI to which the browser returns after a sign-out.
    ///   - authentication: The client authentication method.
    ///   - session: The session that sends the requests, or `nil` for ``defaultSession``; if that is `nil` too, a session without cookies.
    public convenience init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, redirectUri: URL? = nil, logoutRedirectUri: URL? = nil,
        authentication: ClientAuthentication = .none, session: (any URLSessionProtocol)? = nil
    ) {
        self.init(
            Configuration(
                issuerURL: issuerURL, clientId: clientId, scope: scope, redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri,
                authentication: authentication),
            session: session)
    }

    /// Creates a client.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - discoveryURL: The URL of the discovery document, or `nil` for the standard path below the issuer.
    ///   - clientId: The client identifier registered with the issuer.
    ///   - scope: The requested scopes.
    ///   - redirectUri: The URI to which the browser returns after a sign-in.
    ///   - logoutRedirectUri: The URI to which the browser returns after a sign-out.
    ///   - authentication: The client authentication method.
    ///   - session: The session that sends the requests, or `nil` for ``defaultSession``; if that is `nil` too, a session without cookies.
    public convenience init(
        issuerURL: URL, discoveryURL: URL? = nil, clientId: String, scope: some WhitespaceSeparated, redirectUri: URL? = nil,
        logoutRedirectUri: URL? = nil, authentication: ClientAuthentication = .none, session: (any URLSessionProtocol)? = nil
    ) {
        self.init(
            Configuration(
                issuerURL: issuerURL, discoveryURL: discoveryURL, clientId: clientId, scope: scope, redirectUri: redirectUri,
                logoutRedirectUri: logoutRedirectUri, authentication: authentication),
            session: session)
    }

    /// Creates a client for the issuer `https://` plus a domain.
    /// - Throws: ``OAuth2Error/invalidUrl`` if the domain is malformed.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:). It is removed in version 2.")
    public convenience init(
        domain: String, clientId: String, scopes: String, authentication: ClientAuthentication = .none,
        session: (any URLSessionProtocol)? = nil
    ) throws {
        self.init(try Configuration(domain: domain, clientId: clientId, scope: scopes, authentication: authentication), session: session)
    }

    /// Creates a client.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:). It is removed in version 2.")
    public convenience init(
        baseURL: URL, clientId: String, scopes: String, authentication: ClientAuthentication = .none,
        session: (any URLSessionProtocol)? = nil
    ) {
        self.init(Configuration(issuerURL: baseURL, clientId: clientId, scope: scopes, authentication: authentication), session: session)
    }
}

/// An observer of an ``OAuth2Client``. All methods have default implementations that do nothing.
public protocol OAuth2ClientDelegate: APIClientDelegate {
    /// Called before a token is refreshed.
    func oauth(client: OAuth2Client, willRefresh token: Token)

    /// Called after a refresh. `newToken` is `nil` if the refresh failed.
    func oauth(client: OAuth2Client, didRefresh token: Token, replacedWith newToken: Token?)
}

extension OAuth2ClientDelegate {
    /// Does nothing.
    public func oauth(client: OAuth2Client, willRefresh token: Token) {}

    /// Does nothing.
    public func oauth(client: OAuth2Client, didRefresh token: Token, replacedWith newToken: Token?) {}
}

extension Notification.Name {
    /// A client was created. The object is the client.
    public static let oauth2ClientCreated = Notification.Name("com.okta.oauth2client.created")
    /// A token was refreshed. The object is the new token.
    public static let tokenRefreshed = Notification.Name("com.okta.token.refresh.success")
    /// A token refresh failed. The object is the token; `userInfo["error"]` contains the error.
    public static let tokenRefreshFailed = Notification.Name("com.okta.token.refresh.failed")
    /// The default credential changed. The object is the new default credential, or `nil`.
    public static let defaultCredentialChanged = Notification.Name("com.okta.defaultCredentialChanged")
    /// A credential was created. The object is the credential.
    public static let credentialCreated = Notification.Name("com.okta.credential.created")
    /// A credential was removed. The object is the credential.
    public static let credentialRemoved = Notification.Name("com.okta.credential.removed")
    /// A migration stored the session of another SDK. The object is the credential.
    public static let credentialMigrated = Notification.Name("com.okta.credential.migrated")
    /// A credential refresh failed. The object is the credential; `userInfo["error"]` contains the error.
    public static let credentialRefreshFailed = Notification.Name("com.okta.credential.refresh.failed")
}
