public import Foundation

/// An app's connection to its issuer: discovery, tokens, profile, revocation (OAuth 2.0 and OpenID Connect 1.0).
///
/// The discovery document and the issuer's keys are fetched once and kept; concurrent callers share one request. Safe from any thread or
/// task. Cancelling a task cancels what it waits for, except work that others share.
public final class OAuth2Client: APIClient, UsesDelegateCollection, Sendable {
    /// What observes a client.
    public typealias Delegate = OAuth2ClientDelegate

    struct State {
        var additionalHttpHeaders: [String: String]?
        var openIdConfiguration: OpenIdConfiguration?
        var jwks: JWKS?
        var keysRefetchedAt: Date?
        /// By how many seconds the server's clock is ahead of ours, if a response has told.
        var clockOffset: TimeInterval?
        /// The key that proofs are made with, once one was needed.
        var dpopKey: DPoPKey?
        /// The last nonce for proofs of each server, by its origin.
        var dpopNonces: [String: String] = [:]
    }

    private static let sharedDefaultSession = Locked<(any URLSessionProtocol)?>(nil)

    /// What clients made from now on send their requests through, unless they are given a session; nil for a session without cookies.
    public static var defaultSession: (any URLSessionProtocol)? {
        get { sharedDefaultSession.withLock { $0 } }
        set { sharedDefaultSession.withLock { $0 = newValue } }
    }

    /// What requests are sent through.
    public let session: any URLSessionProtocol

    /// The client's settings.
    public let configuration: Configuration

    /// The clock that the client reads and waits on.
    public let clock: any OAuth2Clock

    /// What observes the client.
    public let delegateCollection = DelegateCollection<any OAuth2ClientDelegate>()

    /// Where the client keeps the key that its tokens are bound to.
    let dpopKeys: any DPoPKeyStorage

    let randomness: Randomness
    let state = Locked(State())
    let discoveries = SingleFlight<URL, OpenIdConfiguration>(endsWhenAbandoned: true)
    let keyFetches = SingleFlight<URL, JWKS>(endsWhenAbandoned: true)
    let refreshes = SingleFlight<RefreshKey, Token>()

    /// Which refreshes are the same.
    struct RefreshKey: Hashable, Sendable {
        let id: String
        let refreshToken: String
        let scope: [String]?
    }

    /// Headers for every request.
    public var additionalHttpHeaders: [String: String]? {
        get { state.withLock { $0.additionalHttpHeaders } }
        set { state.withLock { $0.additionalHttpHeaders = newValue } }
    }

    /// The issuer.
    public var baseURL: URL { configuration.issuerURL }

    /// The discovery document, if it has been fetched.
    public var openIdConfiguration: OpenIdConfiguration? { state.withLock { $0.openIdConfiguration } }

    /// The issuer's keys, if they have been fetched.
    public var jwks: JWKS? { state.withLock { $0.jwks } }

    /// The time now by the server's clock, as far as its responses have told it; else by the client's own.
    public var now: Date {
        clock.now.addingTimeInterval(clockOffset ?? 0)
    }

    /// By how many seconds the server's clock is ahead of the client's; nil before the first response.
    public var clockOffset: TimeInterval? { state.withLock { $0.clockOffset } }

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - configuration: The client's settings.
    ///   - session: What requests are sent through; nil for ``defaultSession``, or else a session without cookies.
    ///   - clock: The clock that the client reads and waits on.
    public convenience init(
        _ configuration: Configuration, session: (any URLSessionProtocol)? = nil, clock: any OAuth2Clock = DeviceClock()
    ) {
        self.init(configuration, session: session, clock: clock, randomness: .system)
    }

    /// Makes a client that looks for keys elsewhere than all others do. No app can: the client of a stored token is made from the token
    /// alone, and would not find its key.
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

    /// Makes a client with the settings of a property list.
    ///
    /// - Parameter config: The property list.
    /// - Throws: ``PropertyListConfigurationError/invalidConfiguration(name:value:)`` if the issuer can't be used.
    public convenience init(_ config: PropertyListConfiguration) throws {
        self.init(try Configuration(plist: config))
    }

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The identifier that the issuer gave the app.
    ///   - scope: What the app asks for.
    ///   - redirectUri: Where a browser returns to after a sign-in.
    ///   - logoutRedirectUri: Where a browser returns to after a sign-out.
    ///   - authentication: How the client proves who it is.
    ///   - session: What requests are sent through; nil for ``defaultSession``, or else a session without cookies.
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

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - discoveryURL: Where the discovery document is; nil for the usual path below the issuer.
    ///   - clientId: The identifier that the issuer gave the app.
    ///   - scope: What the app asks for.
    ///   - redirectUri: Where a browser returns to after a sign-in.
    ///   - logoutRedirectUri: Where a browser returns to after a sign-out.
    ///   - authentication: How the client proves who it is.
    ///   - session: What requests are sent through; nil for ``defaultSession``, or else a session without cookies.
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

    /// Makes a client with `https://` and a domain as issuer.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:). It is removed in version 2.")
    public convenience init(
        domain: String, clientId: String, scopes: String, authentication: ClientAuthentication = .none,
        session: (any URLSessionProtocol)? = nil
    ) throws {
        self.init(try Configuration(domain: domain, clientId: clientId, scope: scopes, authentication: authentication), session: session)
    }

    /// Makes a client.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:). It is removed in version 2.")
    public convenience init(
        baseURL: URL, clientId: String, scopes: String, authentication: ClientAuthentication = .none,
        session: (any URLSessionProtocol)? = nil
    ) {
        self.init(Configuration(issuerURL: baseURL, clientId: clientId, scope: scopes, authentication: authentication), session: session)
    }
}

/// An observer of an ``OAuth2Client``. Every method has a default that does nothing.
public protocol OAuth2ClientDelegate: APIClientDelegate {
    /// A token is about to be refreshed.
    func oauth(client: OAuth2Client, willRefresh token: Token)

    /// A token has been refreshed, or the refresh has failed and there is no new token.
    func oauth(client: OAuth2Client, didRefresh token: Token, replacedWith newToken: Token?)
}

extension OAuth2ClientDelegate {
    /// Does nothing.
    public func oauth(client: OAuth2Client, willRefresh token: Token) {}

    /// Does nothing.
    public func oauth(client: OAuth2Client, didRefresh token: Token, replacedWith newToken: Token?) {}
}

extension Notification.Name {
    /// A client was made; the object is the client.
    public static let oauth2ClientCreated = Notification.Name("com.okta.oauth2client.created")
    /// A token was refreshed; the object is the new token.
    public static let tokenRefreshed = Notification.Name("com.okta.token.refresh.success")
    /// A token could not be refreshed; the object is the token, and `userInfo["error"]` says why.
    public static let tokenRefreshFailed = Notification.Name("com.okta.token.refresh.failed")
    /// Another credential is the default now; the object is the credential, or nil.
    public static let defaultCredentialChanged = Notification.Name("com.okta.defaultCredentialChanged")
    /// A credential was made; the object is the credential.
    public static let credentialCreated = Notification.Name("com.okta.credential.created")
    /// A credential was removed; the object is the credential.
    public static let credentialRemoved = Notification.Name("com.okta.credential.removed")
    /// A credential was stored in a new format; the object is the credential.
    public static let credentialMigrated = Notification.Name("com.okta.credential.migrated")
    /// A credential could not be refreshed; the object is the credential, and `userInfo["error"]` says why.
    public static let credentialRefreshFailed = Notification.Name("com.okta.credential.refresh.failed")
}
