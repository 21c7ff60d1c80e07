public import AuthFoundation
public import Foundation

// Initializers with the names of SDK version 1. Each forwards to the initializer in its deprecation message.

extension AuthorizationCodeFlow {
    /// Creates a flow and its client.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:redirectUri:). It is removed in version 2.")
    public init(
        issuer: URL, clientId: String, scopes: String, redirectUri: URL, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: String]? = nil
    ) {
        self.init(
            issuerURL: issuer, clientId: clientId, scope: scopes, redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri,
            additionalParameters: additionalParameters)
    }
}

extension SessionLogoutFlow {
    /// Creates a flow and its client.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:logoutRedirectUri:). It is removed in version 2.")
    public init(
        issuer: URL, clientId: String, scopes: String, logoutRedirectUri: URL, additionalParameters: [String: String]? = nil
    ) {
        self.init(
            issuerURL: issuer, clientId: clientId, scope: scopes, logoutRedirectUri: logoutRedirectUri,
            additionalParameters: additionalParameters)
    }
}

extension SessionTokenFlow {
    /// Creates a flow and its client. Never throws an error.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:redirectUri:). It is removed in version 2.")
    public init(
        issuer: URL, clientId: String, scopes: String, redirectUri: URL, additionalParameters: [String: String]? = nil
    ) throws {
        try self.init(
            issuerURL: issuer, clientId: clientId, scope: scopes, redirectUri: redirectUri, additionalParameters: additionalParameters)
    }
}

extension AuthorizationCodeFlow {
    /// Creates a flow with a client.
    /// - Throws: `OAuth2Error` if the client lacks a setting that the flow needs.
    @available(*, deprecated, message: "Set redirectUri in the client, and use init(client:additionalParameters:).")
    public init(redirectUri: URL, additionalParameters: [String: any APIRequestArgument]?, client: OAuth2Client) throws {
        try self.init(client: client.redirecting(to: redirectUri), additionalParameters: additionalParameters)
    }
}

extension SessionTokenFlow {
    /// Creates a flow with a client.
    /// - Throws: `OAuth2Error` if the client lacks a setting that the flow needs.
    @available(*, deprecated, message: "Set redirectUri in the client, and use init(client:additionalParameters:).")
    public init(redirectUri: URL, additionalParameters: [String: any APIRequestArgument]? = nil, client: OAuth2Client) throws {
        try self.init(client: client.redirecting(to: redirectUri), additionalParameters: additionalParameters)
    }
}

extension SessionLogoutFlow {
    /// Creates a flow with a client.
    @available(*, deprecated, message: "Set logoutRedirectUri in the client, and use init(client:additionalParameters:).")
    public init(logoutRedirectUri: URL, additionalParameters: [String: any APIRequestArgument]? = nil, client: OAuth2Client) {
        self.init(client: client.redirecting(to: nil, afterLogout: logoutRedirectUri), additionalParameters: additionalParameters)
    }
}

extension OAuth2Client {
    /// Returns a flow of this client.
    /// - Throws: `OAuth2Error` if the client lacks a setting that the flow needs.
    @available(*, deprecated, message: "Use AuthorizationCodeFlow.init(client:additionalParameters:). It is removed in version 2.")
    public func authorizationCodeFlow(redirectUri: URL, additionalParameters: [String: String]?) throws -> AuthorizationCodeFlow {
        try AuthorizationCodeFlow(client: redirecting(to: redirectUri), additionalParameters: additionalParameters)
    }

    /// Returns a flow of this client.
    /// - Throws: `OAuth2Error` if the client lacks a setting that the flow needs.
    @available(*, deprecated, message: "Use SessionTokenFlow.init(client:additionalParameters:). It is removed in version 2.")
    public func sessionTokenFlow(redirectUri: URL, additionalParameters: [String: String]? = nil) throws -> SessionTokenFlow {
        try SessionTokenFlow(client: redirecting(to: redirectUri), additionalParameters: additionalParameters)
    }

    /// Returns this client, or a client with the same settings and other redirect URIs.
    fileprivate func redirecting(to redirectUri: URL?, afterLogout logoutRedirectUri: URL? = nil) -> OAuth2Client {
        var configuration = configuration
        configuration.redirectUri = redirectUri ?? configuration.redirectUri
        configuration.logoutRedirectUri = logoutRedirectUri ?? configuration.logoutRedirectUri
        return configuration == self.configuration ? self : OAuth2Client(configuration, session: session)
    }
}

extension DeviceAuthorizationFlow {
    /// Creates a flow and its client.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:). It is removed in version 2.")
    public init(issuer: URL, clientId: String, scopes: String) {
        self.init(issuerURL: issuer, clientId: clientId, scope: scopes)
    }
}

extension JWTAuthorizationFlow {
    /// Creates a flow and its client.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:). It is removed in version 2.")
    public init(issuer: URL, clientId: String, scopes: String) {
        self.init(issuerURL: issuer, clientId: clientId, scope: scopes)
    }
}

extension ResourceOwnerFlow {
    /// Creates a flow and its client.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:). It is removed in version 2.")
    public init(issuer: URL, clientId: String, scopes: String) {
        self.init(issuerURL: issuer, clientId: clientId, scope: scopes)
    }
}

extension TokenExchangeFlow {
    /// Creates a flow and its client.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:). It is removed in version 2.")
    public init(issuer: URL, clientId: String, scopes: String) {
        self.init(issuerURL: issuer, clientId: clientId, scope: scopes)
    }
}

// Start methods with the signatures of SDK version 1, in which the additional parameters are separate from the context.

extension AuthorizationCodeFlow {
    /// Starts a sign-in, like ``start(with:)``, with additional parameters.
    /// - Parameter additionalParameters: Additional parameters. They override the additional parameters of the context.
    @available(*, deprecated, message: "Use start(with:) and the context's additionalParameters. It is removed in version 2.")
    public func start(with context: Context? = nil, additionalParameters: [String: String]?) async throws -> URL {
        var context = context ?? Context()
        context.additionalParameters.merge(additionalParameters)
        return try await start(with: context)
    }

    /// Starts a sign-in and calls `completion` once, on an arbitrary thread.
    @available(*, deprecated, message: "Use start(with:) and the context's additionalParameters. It is removed in version 2.")
    nonisolated public func start(
        with context: Context? = nil, additionalParameters: [String: String]?,
        completion: @escaping @Sendable (Result<URL, OAuth2Error>) -> Void
    ) {
        var context = context ?? Context()
        context.additionalParameters.merge(additionalParameters)
        start(with: context, completion: completion)
    }
}

extension SessionLogoutFlow {
    /// Starts a sign-out, like ``start(with:)``, with additional parameters.
    /// - Parameter additionalParameters: Additional parameters. They override the additional parameters of the context.
    @available(*, deprecated, message: "Use start(with:) and the context's additionalParameters. It is removed in version 2.")
    public func start(with context: Context, additionalParameters: [String: String]?) async throws -> URL {
        var context = context
        context.additionalParameters.merge(additionalParameters)
        return try await start(with: context)
    }

    /// Starts a sign-out and calls `completion` once, on an arbitrary thread.
    @available(*, deprecated, message: "Use start(with:) and the context's additionalParameters. It is removed in version 2.")
    nonisolated public func start(
        with context: Context, additionalParameters: [String: String]?,
        completion: @escaping @Sendable (Result<URL, OAuth2Error>) -> Void
    ) {
        var context = context
        context.additionalParameters.merge(additionalParameters)
        start(with: context, completion: completion)
    }
}
