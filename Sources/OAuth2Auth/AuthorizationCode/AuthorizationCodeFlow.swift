public import AuthFoundation
public import Foundation

/// Signs a person in on the server's own pages: the authorization code flow with PKCE (RFC 6749, 4.1; RFC 7636; OpenID Connect Core 1.0, 3.1).
///
/// ```swift
/// let flow = try AuthorizationCodeFlow()
/// let url = try await flow.start()
/// // Open the URL in a browser. When the browser is sent to the redirect URI:
/// let token = try await flow.resume(with: redirect)
/// try Credential.store(token)
/// ```
///
/// One flow serves any number of sign-ins, one after the other. A `start` supersedes what is under way, whose calls end with
/// `OAuth2Error.invalidContext`, and so does ``reset()``. The redirect of a sign-in that was superseded, and a second redirect of the same
/// sign-in, are refused. Cancelling the task of a call gives the sign-in up; tokens that come all the same are revoked.
public actor AuthorizationCodeFlow: AuthenticationFlow, OAuth2ClientDelegate {
    /// What observes a flow.
    public typealias Delegate = AuthorizationCodeFlowDelegate

    /// The client that signs in.
    nonisolated public let client: OAuth2Client

    /// Further parameters for every sign-in.
    nonisolated public let additionalParameters: [String: any APIRequestArgument]?

    /// What observes the flow.
    nonisolated public let delegateCollection = DelegateCollection<any AuthorizationCodeFlowDelegate>()

    nonisolated let progress = SignInProgress<Context>()

    /// What the sign-in under way asks for; nil if there is none.
    nonisolated public var context: Context? { progress.context }

    /// Whether a sign-in is under way.
    nonisolated public var isAuthenticating: Bool { progress.isAuthenticating }

    /// Makes a flow and the client for it.
    ///
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The identifier that the issuer gave the app.
    ///   - scope: What the app asks for.
    ///   - redirectUri: Where the browser returns to, as the issuer knows it.
    ///   - logoutRedirectUri: Where the browser returns to after a sign-out.
    ///   - additionalParameters: Further parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, redirectUri: URL, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            OAuth2Client(
                issuerURL: issuerURL, clientId: clientId, scope: scope, redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri),
            additionalParameters)
    }

    /// Makes a flow and the client for it.
    ///
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The identifier that the issuer gave the app.
    ///   - scope: What the app asks for.
    ///   - redirectUri: Where the browser returns to, as the issuer knows it.
    ///   - logoutRedirectUri: Where the browser returns to after a sign-out.
    ///   - additionalParameters: Further parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: some WhitespaceSeparated, redirectUri: URL, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            OAuth2Client(
                issuerURL: issuerURL, clientId: clientId, scope: scope, redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri),
            additionalParameters)
    }

    /// Makes a flow.
    ///
    /// - Parameters:
    ///   - client: The client that signs in.
    ///   - additionalParameters: Further parameters for every sign-in.
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

    // MARK: Signing in

    /// Begins a sign-in.
    ///
    /// The server is asked for its discovery document, if the client does not have it, and is told what the browser is going to ask for, if it
    /// offers that.
    ///
    /// - Parameter context: What the sign-in asks for. One that has been used before gets random values anew, except for a `state` and a
    ///   `nonce` that the app chose.
    /// - Returns: The URL for the browser. It is good for one sign-in.
    /// - Throws: `APIClientError` if the server refuses or is not reached, `OAuth2Error.missingOpenIdConfiguration(attribute:)` if it requires
    ///   a push and has no endpoint for it, `OAuth2Error.invalidContext` if the sign-in has been superseded, or `CancellationError`. The
    ///   sign-in has ended then.
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

    /// Ends a sign-in with what the browser brought back.
    ///
    /// A redirect that is not this sign-in's changes nothing: the right one can still come. One that is, ends the sign-in.
    ///
    /// - Parameter url: The URL that the browser was sent to.
    /// - Returns: The tokens, validated.
    /// - Throws: `OAuth2Error.invalidContext` if no sign-in waits for a redirect; `OAuth2Error.redirectUri(_:reason:)` if this one is not
    ///   acceptable; ``AuthorizationIssuerError`` if it is from another server; `OAuth2ServerError` if the server refused;
    ///   `APIClientError` if it refused the code or is not reached; `JWTError` if the ID token is not acceptable;
    ///   `OAuth2Error.missingToken(type:)` if there is none; or `CancellationError`.
    public func resume(with url: URL) async throws -> Token {
        let (call, answered, response) = try await claim(url)
        return try await finish(call) { [self] in
            try response.checkIssuer(try await client.openIdConfiguration())
            return try await client.tokens(forCode: response.code(), in: answered, flow: additionalParameters)
        }
    }

    /// Forgets the sign-in under way. A call that is under way ends at once with `OAuth2Error.invalidContext`.
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
    /// Trades a code for tokens.
    ///
    /// - Throws: What `exchange(token:)` throws; `OAuth2Error.missingToken(type:)` if an ID token was asked for and there is none, without
    ///   which nobody can tell that the tokens belong to this sign-in.
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
        return token
    }

    /// Makes a flow for this client.
    ///
    /// - Parameter additionalParameters: Further parameters for every sign-in.
    /// - Returns: The flow.
    /// - Throws: `OAuth2Error.redirectUriRequired` if the client's configuration has no redirect URI.
    public func authorizationCodeFlow(additionalParameters: [String: String]? = nil) throws -> AuthorizationCodeFlow {
        try AuthorizationCodeFlow(client: self, additionalParameters: additionalParameters)
    }
}

/// An observer of an ``AuthorizationCodeFlow``. It is called on the main actor.
public protocol AuthorizationCodeFlowDelegate: AuthenticationDelegate {
    /// The URL for the browser can be changed before it is used.
    func authentication<Flow: AuthorizationCodeFlow>(flow: Flow, customizeUrl urlComponents: inout URLComponents)

    /// The URL for the browser is ready.
    func authentication<Flow: AuthorizationCodeFlow>(flow: Flow, shouldAuthenticateUsing url: URL)
}

extension AuthorizationCodeFlowDelegate {
    /// Does nothing.
    public func authentication<Flow: AuthorizationCodeFlow>(flow: Flow, customizeUrl urlComponents: inout URLComponents) {}

    /// Does nothing.
    public func authentication<Flow: AuthorizationCodeFlow>(flow: Flow, shouldAuthenticateUsing url: URL) {}
}

extension AuthorizationCodeFlow {
    /// Begins a sign-in.
    ///
    /// - Parameters:
    ///   - context: What the sign-in asks for.
    ///   - completion: Is called once, on no particular thread.
    nonisolated public func start(
        with context: Context = .init(), completion: @escaping @Sendable (Result<URL, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await self.start(with: context) }
    }

    /// Ends a sign-in with what the browser brought back.
    ///
    /// - Parameters:
    ///   - url: The URL that the browser was sent to.
    ///   - completion: Is called once, on no particular thread.
    nonisolated public func resume(with url: URL, completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void) {
        Completion.run(completion) { try await self.resume(with: url) }
    }
}
