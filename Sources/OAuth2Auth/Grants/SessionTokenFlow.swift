public import AuthFoundation
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A flow that exchanges the one-time session token of the classic authentication API for tokens, without a browser
/// (Documentation/Protocol/OAuth.md §7.6). The flow requests the authorization page and takes the code from the redirect. It can run any
/// number of sign-ins, one at a time. A new `start`, or ``reset()``, supersedes the current sign-in, which fails at once with
/// `OAuth2Error.invalidContext`. Cancelling a call's task ends the call at once and revokes tokens that arrive later.
public actor SessionTokenFlow: AuthenticationFlow {
    /// The type of the flow's delegates.
    public typealias Delegate = AuthenticationDelegate

    /// The context of one sign-in.
    public typealias Context = AuthorizationCodeFlow.Context

    /// The client that signs in.
    nonisolated public let client: OAuth2Client

    /// Additional parameters for every sign-in.
    nonisolated public let additionalParameters: [String: any APIRequestArgument]?

    /// The flow's delegates.
    nonisolated public let delegateCollection = DelegateCollection<any AuthenticationDelegate>()

    nonisolated let progress = SignInProgress<Context>()

    /// The context of the current sign-in; `nil` if there is none.
    nonisolated public var context: Context? { progress.context }

    /// Whether a sign-in is in progress.
    nonisolated public var isAuthenticating: Bool { progress.isAuthenticating }

    /// Creates a flow and its client. Never throws an error.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client ID that the issuer assigned to the app.
    ///   - scope: The requested scopes.
    ///   - redirectUri: The redirect URI registered with the issuer. The flow sends no request to this URI.
    ///   - additionalParameters: Additional parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, redirectUri: URL,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) throws {
        try self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope, redirectUri: redirectUri),
            additionalParameters: additionalParameters)
    }

    /// Creates a flow and its client. Never throws an error.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client ID that the issuer assigned to the app.
    ///   - scope: The requested scopes.
    ///   - redirectUri: The redirect URI registered with the issuer. The flow sends no request to this URI.
    ///   - additionalParameters: Additional parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: some WhitespaceSeparated, redirectUri: URL,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) throws {
        try self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope, redirectUri: redirectUri),
            additionalParameters: additionalParameters)
    }

    /// Creates a flow for a client.
    /// - Parameters:
    ///   - client: The client that signs in. If the app supplies its own session, this session should not follow redirects to other
    ///     schemes.
    ///   - additionalParameters: Additional parameters for every sign-in.
    /// - Throws: `OAuth2Error.redirectUriRequired` if the client's configuration has no redirect URI.
    public init(client: OAuth2Client, additionalParameters: [String: any APIRequestArgument]? = nil) throws {
        guard client.configuration.redirectUri != nil else { throw OAuth2Error.redirectUriRequired }
        SDKVersion.register(.oauth2Auth, version: SDKVersion.current)
        self.client = client
        self.additionalParameters = additionalParameters
    }

    /// Signs in and returns the validated tokens.
    /// - Parameters:
    ///   - sessionToken: The session token. It can be used once.
    ///   - context: The context of the sign-in. A used context gets new random values, except for a `state` and a `nonce` that the app set.
    /// - Throws: `OAuth2Error.missingLocationHeader` if the server shows a page instead of redirecting, because the session token is
    ///   invalid; `OAuth2Error.redirectUri(_:reason:)` if the server redirects to another server; and the errors of
    ///   ``AuthorizationCodeFlow/resume(with:)``.
    public func start(with sessionToken: String, context: Context = .init()) async throws -> Token {
        let context = context.forSignIn()
        return try await signIn(context) { [client, additionalParameters] in
            let provider = try await client.openIdConfiguration()
            var context = context
            // Pushed authorization requests do not support `sessionToken`.
            context.pushedAuthorizationRequestEnabled = false
            let request = AuthorizationRequest(client: client, provider: provider, context: context)
            let components = try request.components(flow: additionalParameters, step: ["sessionToken": sessionToken])
            guard let target = client.configuration.redirectUri else { throw OAuth2Error.redirectUriRequired }
            guard let redirect = try await SilentNavigation(client: client).redirect(from: request.url(components), to: target) else {
                throw OAuth2Error.missingLocationHeader
            }
            let response = try AuthorizationResponse(redirect, redirectUri: target, state: context.state)
            try response.checkIssuer(provider)
            return try await client.tokens(forCode: response.code(), in: context, flow: additionalParameters)
        }
    }

    /// Cancels the current sign-in. A running call fails at once with `OAuth2Error.invalidContext`.
    public func reset() {
        progress.reset()
    }
}

extension SessionTokenFlow: SignInFlow {}

extension SessionTokenFlow {
    /// Signs in, like ``start(with:context:)``.
    /// - Parameter completion: Called once, on an arbitrary thread.
    nonisolated public func start(
        with sessionToken: String, context: Context = .init(), completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await self.start(with: sessionToken, context: context) }
    }
}

extension OAuth2Client {
    /// Creates a flow for this client.
    /// - Parameter additionalParameters: Additional parameters for every sign-in.
    /// - Throws: `OAuth2Error.redirectUriRequired` if the client's configuration has no redirect URI.
    public func sessionTokenFlow(additionalParameters: [String: any APIRequestArgument]? = nil) throws -> SessionTokenFlow {
        try SessionTokenFlow(client: self, additionalParameters: additionalParameters)
    }
}
