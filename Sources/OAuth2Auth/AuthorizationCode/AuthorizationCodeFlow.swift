public import AuthFoundation
public import Foundation

/// A flow that signs a user in on the server's pages, with authorization code and PKCE (RFC 6749 §4.1, RFC 7636, OpenID Connect Core 1.0
/// §3.1).
///
/// ```swift
/// let flow = try AuthorizationCodeFlow()
/// let url = try await flow.start()
/// // Open the URL in a browser. When the browser is sent to the redirect URI:
/// let token = try await flow.resume(with: redirect)
/// try Credential.store(token)
/// ```
/// A flow can run any number of sign-ins, one at a time. A new `start`, or ``reset()``, supersedes the current sign-in, whose calls fail
/// with `OAuth2Error.invalidContext`. Redirects of superseded sign-ins and repeated redirects are rejected. Cancelling a call's task
/// cancels the sign-in and revokes tokens that arrive later.
public actor AuthorizationCodeFlow: AuthenticationFlow, OAuth2ClientDelegate {
    /// The type of the flow's delegates.
    public typealias Delegate = AuthorizationCodeFlowDelegate

    /// The client that signs in.
    nonisolated public let client: OAuth2Client

    /// Additional parameters for every sign-in.
    nonisolated public let additionalParameters: [String: any APIRequestArgument]?

    /// The flow's delegates.
    nonisolated public let delegateCollection = DelegateCollection<any AuthorizationCodeFlowDelegate>()

    nonisolated let progress = SignInProgress<Context>()

    /// The context of the current sign-in; `nil` if there is none.
    nonisolated public var context: Context? { progress.context }

    /// Whether a sign-in is in progress.
    nonisolated public var isAuthenticating: Bool { progress.isAuthenticating }

    /// Creates a flow and its client.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client ID that the issuer assigned to the app.
    ///   - scope: The requested scopes.
    ///   - redirectUri: The redirect URI registered with the issuer.
    ///   - logoutRedirectUri: The registered redirect URI after a sign-out.
    ///   - additionalParameters: Additional parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, redirectUri: URL, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            OAuth2Client(
                issuerURL: issuerURL, clientId: clientId, scope: scope, redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri),
            additionalParameters)
    }

    /// Creates a flow and its client.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client ID that the issuer assigned to the app.
    ///   - scope: The requested scopes.
    ///   - redirectUri: The redirect URI registered with the issuer.
    ///   - logoutRedirectUri: The registered redirect URI after a sign-out.
    ///   - additionalParameters: Additional parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: some WhitespaceSeparated, redirectUri: URL, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            OAuth2Client(
                issuerURL: issuerURL, clientId: clientId, scope: scope, redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri),
            additionalParameters)
    }

    /// Creates a flow for a client.
    /// - Parameter additionalParameters: Additional parameters for every sign-in.
    /// - Throws: `OAuth2Error.redirectUriRequired` if the client's configuration has no redirect URI.
    public init(client: OAuth2Client, additionalParameters: [String: any APIRequestArgument]? = nil) throws {
        guard client.configuration.redirectUri != nil else { throw OAuth2Error.redirectUriRequired }
        self.init(client, additionalParameters)
    }

    private init(_ client: OAuth2Client, _ additionalParameters: [String: any APIRequestArgument]?) {
        SDKVersion.register(.oauth2Auth, version: SDKVersion.current)
        self.client = client
        self.additionalParameters = additionalParameters
        client.add(delegate: self)
    }

    /// Starts a sign-in and returns the URL to open in the browser.
    /// Fetches the discovery document if necessary, and pushes the authorization request if the server supports it (RFC 9126). If an error
    /// is thrown, the sign-in has ended.
    /// - Parameter context: The context of the sign-in. A used context gets new random values, except for a `state` and a `nonce` that the
    ///   app set.
    /// - Returns: The URL to open. It is valid for one sign-in.
    /// - Throws:
    ///   - `APIClientError` if the server returns an error or is unreachable.
    ///   - `OAuth2Error.missingOpenIdConfiguration(attribute:)` if the server requires pushed requests but has no endpoint for them.
    ///   - `OAuth2Error.invalidContext` if the sign-in was superseded.
    ///   - `CancellationError` if the task was cancelled.
    public func start(with context: Context = .init()) async throws -> URL {
        let context = prepared(context)
        let call = FlowCall<URL>()
        progress.begin(context, call)
        await tell { $0.authenticationStarted(flow: self) }
        let url = try await step(call) { [self] in
            let request = AuthorizationRequest(client: client, provider: try await client.openIdConfiguration(), context: context)
            return try await request.url(customized(request.components(flow: additionalParameters)))
        } taking: {
            $0.authenticationURL = $1
        }
        await tellAuthorizing { $0.authentication(flow: self, shouldAuthenticateUsing: url) }
        return url
    }

    /// Completes a sign-in with the browser's redirect.
    /// A redirect that does not belong to this sign-in is rejected and changes nothing. A matching redirect ends the sign-in.
    /// - Parameter url: The URL to which the browser was redirected.
    /// - Returns: The validated tokens.
    /// - Throws:
    ///   - `OAuth2Error.invalidContext` if no sign-in waits for a redirect, or if the sign-in was superseded.
    ///   - `OAuth2Error.redirectUri(_:reason:)` if the redirect is not acceptable.
    ///   - ``AuthorizationIssuerError`` if the redirect comes from another server.
    ///   - `OAuth2ServerError` if the redirect reports an error.
    ///   - `APIClientError` if the server rejects the code or is unreachable.
    ///   - `JWTError` if the ID token is invalid; `OAuth2Error.missingToken(type:)` if it is missing.
    ///   - `StepUpError` if the context answers a step-up challenge and the tokens do not meet it. The tokens are then revoked.
    ///   - `CancellationError` if the task was cancelled.
    public func resume(with url: URL) async throws -> Token {
        let (call, answered, response) = try await claim(url)
        return try await finish(call) { [self] in
            try response.checkIssuer(try await client.openIdConfiguration())
            return try await client.tokens(forCode: response.code(), in: answered, flow: additionalParameters)
        }
    }

    /// Cancels the current sign-in. A running call fails at once with `OAuth2Error.invalidContext`.
    public func reset() {
        progress.reset()
    }

    private func claim(_ url: URL) async throws -> (FlowCall<Token>, Context, AuthorizationResponse) {
        do {
            guard let context = progress.context, context.authenticationURL != nil else { throw OAuth2Error.invalidContext }
            let response = try AuthorizationResponse(
                url, redirectUri: context.redirectUri ?? client.configuration.redirectUri, state: context.state)
            let call = FlowCall<Token>()
            try progress.proceed(call) { current in
                guard current.pkce == context.pkce, !current.isAnswered else { return false }
                current.isAnswered = true
                return true
            }
            return (call, context, response)
        } catch {
            await tell { $0.authentication(flow: self, received: OAuth2Error(error)) }
            throw error
        }
    }

    private func prepared(_ context: Context) -> Context {
        var context = context.forSignIn()
        context.authenticationURL = nil
        context.isAnswered = false
        return context
    }

    @MainActor private func customized(_ components: URLComponents) -> URLComponents {
        var components = components
        delegateCollection.invoke { $0.authentication(flow: self, customizeUrl: &components) }
        return components
    }

    @MainActor private func tellAuthorizing(_ words: @Sendable (any AuthorizationCodeFlowDelegate) -> Void) {
        delegateCollection.invoke(words)
    }
}

extension AuthorizationCodeFlow: SignInFlow {
    @MainActor func tell(_ words: @Sendable (any AuthenticationDelegate) -> Void) {
        delegateCollection.invoke { words($0) }
    }
}

extension OAuth2Client {
    /// Exchanges a code for tokens.
    /// - Throws: Errors of `exchange(token:)`; `OAuth2Error.missingToken(type:)` if a requested ID token is missing, because tokens without
    ///   an ID token cannot be matched to this sign-in.
    func tokens(
        forCode code: String, in context: AuthorizationCodeFlow.Context, flow: [String: any APIRequestArgument]?
    ) async throws -> Token {
        var parameters: [String: any APIRequestArgument] = ["code": code]
        if let redirectUri = context.redirectUri { parameters["redirect_uri"] = redirectUri }
        let token = try await tokens(.authorizationCode, parameters, context: context, flow: flow, expectations: context)
        let wantsIDToken = configuration.scope.contains("openid") && token.scope?.contains("openid") != false
        guard token.idToken != nil || !wantsIDToken else {
            discard(token)
            throw OAuth2Error.missingToken(type: .idToken)
        }
        do {
            try context.stepUp?.check(token)
        } catch {
            discard(token)
            throw error
        }
        return token
    }

    /// Creates a flow for this client.
    /// - Parameter additionalParameters: Additional parameters for every sign-in.
    /// - Throws: `OAuth2Error.redirectUriRequired` if the client's configuration has no redirect URI.
    public func authorizationCodeFlow(additionalParameters: [String: String]? = nil) throws -> AuthorizationCodeFlow {
        try AuthorizationCodeFlow(client: self, additionalParameters: additionalParameters)
    }
}

/// An observer of an ``AuthorizationCodeFlow``. Methods are called on the main actor.
public protocol AuthorizationCodeFlowDelegate: AuthenticationDelegate {
    /// Called before the URL is used. The delegate can change the URL.
    func authentication<Flow: AuthorizationCodeFlow>(flow: Flow, customizeUrl urlComponents: inout URLComponents)

    /// Called when the URL for the browser is ready.
    func authentication<Flow: AuthorizationCodeFlow>(flow: Flow, shouldAuthenticateUsing url: URL)
}

extension AuthorizationCodeFlowDelegate {
    /// Does nothing.
    public func authentication<Flow: AuthorizationCodeFlow>(flow: Flow, customizeUrl urlComponents: inout URLComponents) {}

    /// Does nothing.
    public func authentication<Flow: AuthorizationCodeFlow>(flow: Flow, shouldAuthenticateUsing url: URL) {}
}

extension AuthorizationCodeFlow {
    /// Starts a sign-in, like ``start(with:)``.
    /// - Parameter completion: Called once, on an arbitrary thread.
    nonisolated public func start(
        with context: Context = .init(), completion: @escaping @Sendable (Result<URL, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await self.start(with: context) }
    }

    /// Completes a sign-in with the browser's redirect, like ``resume(with:)``.
    /// - Parameter completion: Called once, on an arbitrary thread.
    nonisolated public func resume(with url: URL, completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.resume(with: url) }
    }
}
