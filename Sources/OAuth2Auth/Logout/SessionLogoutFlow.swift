public import AuthFoundation
public import Foundation

/// Ends a person's session at the server, in a browser (OpenID Connect RP-Initiated Logout 1.0).
///
/// ```swift
/// let flow = SessionLogoutFlow(client: credential.oauth2)
/// let url = try await flow.start(with: .init(token: credential.token))
/// // Open the URL in a browser. When the browser is sent to the logout redirect URI:
/// try await flow.resume(with: redirect)
/// try await credential.revoke()
/// ```
///
/// The session is the browser's. Tokens are not revoked by it, and what is stored on the device stays there: see `Credential.revoke(type:)`.
/// One flow serves any number of sign-outs, one after the other; a `start` supersedes what is under way.
public actor SessionLogoutFlow: LogoutFlow, OAuth2ClientDelegate {
    /// What observes a flow.
    public typealias Delegate = SessionLogoutFlowDelegate

    /// The client that signs out.
    nonisolated public let client: OAuth2Client

    /// Further parameters for every sign-out. A `prompt` is taken to be meant for sign-ins and is not sent.
    nonisolated public let additionalParameters: [String: any APIRequestArgument]?

    /// What observes the flow.
    nonisolated public let delegateCollection = DelegateCollection<any SessionLogoutFlowDelegate>()

    nonisolated private let progress = SignInProgress<Context>()

    /// What the sign-out under way asks for; nil if there is none.
    nonisolated public var context: Context? { progress.context }

    /// Whether a sign-out is under way.
    public var inProgress: Bool { progress.isAuthenticating }

    /// Makes a flow and the client for it.
    ///
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The identifier that the issuer gave the app.
    ///   - scope: What the app asks for at sign-in.
    ///   - logoutRedirectUri: Where the browser returns to, as the issuer knows it; nil if it stays on the server's page.
    ///   - additionalParameters: Further parameters for every sign-out.
    public init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: String]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope, logoutRedirectUri: logoutRedirectUri),
            additionalParameters: additionalParameters)
    }

    /// Makes a flow and the client for it.
    ///
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The identifier that the issuer gave the app.
    ///   - scope: What the app asks for at sign-in.
    ///   - logoutRedirectUri: Where the browser returns to, as the issuer knows it; nil if it stays on the server's page.
    ///   - additionalParameters: Further parameters for every sign-out.
    public init(
        issuerURL: URL, clientId: String, scope: some WhitespaceSeparated, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: String]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope, logoutRedirectUri: logoutRedirectUri),
            additionalParameters: additionalParameters)
    }

    /// Makes a flow.
    ///
    /// - Parameters:
    ///   - client: The client that signs out.
    ///   - additionalParameters: Further parameters for every sign-out.
    public init(client: OAuth2Client, additionalParameters: [String: any APIRequestArgument]? = nil) {
        SDKVersion.register(.oauth2Auth, version: SDKVersion.current)
        self.client = client
        self.additionalParameters = additionalParameters
        client.add(delegate: self)
    }

    // MARK: Signing out

    /// Begins a sign-out.
    ///
    /// - Parameter context: What the sign-out asks for.
    /// - Returns: The URL for the browser.
    /// - Throws: `OAuth2Error.missingOpenIdConfiguration(attribute:)` if the server does not offer it, `APIClientError` if its discovery
    ///   document can't be fetched, `OAuth2Error.invalidContext` if the sign-out has been superseded, or `CancellationError`. The sign-out
    ///   has ended then.
    public func start(with context: Context = .init()) async throws -> URL {
        var context = context
        context.logoutURL = nil
        let call = FlowCall<URL>()
        progress.begin(context, call)
        do {
            let url = try await call.value { [self, context] in
                guard let url = try await customized(components(context, of: try await client.openIdConfiguration())).url else {
                    throw OAuth2Error.cannotComposeUrl
                }
                return url
            }
            try progress.advance(by: call, isCancelled: Task.isCancelled) { $0.logoutURL = url }
            await tell { $0.logout(flow: self, shouldLogoutUsing: url) }
            return url
        } catch {
            progress.end(by: call)
            await tellError(error)
            throw error
        }
    }

    /// Ends a sign-out with what the browser brought back.
    ///
    /// A redirect that is not this sign-out's changes nothing: the right one can still come.
    ///
    /// - Parameter url: The URL that the browser was sent to.
    /// - Throws: `OAuth2Error.invalidContext` if no sign-out waits for a redirect; `OAuth2Error.redirectUri(_:reason:)` if this one is not
    ///   the client's own, or is another sign-out's; `OAuth2ServerError` if the server refused.
    public func resume(with url: URL) async throws {
        do {
            guard let context = progress.context, context.logoutURL != nil else { throw OAuth2Error.invalidContext }
            let expected = context.redirectUri ?? client.configuration.logoutRedirectUri
            let response = try AuthorizationResponse(url, redirectUri: expected, state: context.state)
            let call = FlowCall<Token>()
            try progress.proceed(call) { $0.state == context.state && $0.logoutURL == context.logoutURL }
            try progress.succeed(by: call, isCancelled: false)
            try response.checkError()
        } catch {
            await tellError(error)
            throw error
        }
    }

    /// Gives the sign-out under way up. A call that is under way ends at once with `OAuth2Error.invalidContext`.
    public func cancel() {
        progress.reset()
    }

    /// Forgets the sign-out under way. A call that is under way ends at once with `OAuth2Error.invalidContext`.
    public func reset() {
        progress.reset()
    }

    nonisolated private func components(_ context: Context, of provider: OpenIdConfiguration) throws -> URLComponents {
        let attribute = OpenIdConfiguration.ProviderMetadata.endSessionEndpoint
        guard let endpoint = provider.endSessionEndpoint else {
            throw OAuth2Error.missingOpenIdConfiguration(attribute: attribute.rawValue)
        }
        guard LoopbackRule.isAcceptable(endpoint), var components = URLComponents(url: endpoint, resolvingAgainstBaseURL: true) else {
            throw OAuth2Error.cannotComposeUrl
        }
        var parameters = additionalParameters ?? [:]
        parameters["prompt"] = nil
        parameters.merge(context.additionalParameters ?? [:]) { $1 }
        parameters["client_id"] = client.configuration.clientId
        parameters["state"] = context.state
        parameters["id_token_hint"] = context.idToken
        parameters["logout_hint"] = context.logoutHint
        if !context.staysAtServer { parameters["post_logout_redirect_uri"] = context.redirectUri ?? client.configuration.logoutRedirectUri }
        components.percentEncodedQuery = FormEncoding.query(
            adding: parameters.map { ($0, $1.stringValue) }, to: components.percentEncodedQuery)
        return components
    }

    @MainActor private func customized(_ components: URLComponents) -> URLComponents {
        var components = components
        delegateCollection.invoke { $0.logout(flow: self, customizeUrl: &components) }
        return components
    }

    @MainActor private func tell(_ words: @Sendable (any SessionLogoutFlowDelegate) -> Void) {
        delegateCollection.invoke(words)
    }

    nonisolated private func tellError(_ error: any Error) async {
        await tell { $0.logout(flow: self, received: OAuth2Error(error)) }
    }
}

extension SessionLogoutFlow.Context {
    /// Whether the server is asked to begin another sign-in at once.
    fileprivate var staysAtServer: Bool {
        let words = additionalParameters?["prompt"]?.stringValue.whitespaceSeparated ?? []
        return words.contains("login") || words.contains("consent")
    }
}

/// An observer of a ``SessionLogoutFlow``. It is called on the main actor.
public protocol SessionLogoutFlowDelegate: LogoutFlowDelegate {
    /// A sign-out has failed.
    func logout<Flow: SessionLogoutFlow>(flow: Flow, received error: OAuth2Error)

    /// The URL for the browser can be changed before it is used.
    func logout<Flow: SessionLogoutFlow>(flow: Flow, customizeUrl urlComponents: inout URLComponents)

    /// The URL for the browser is ready.
    func logout<Flow: SessionLogoutFlow>(flow: Flow, shouldLogoutUsing url: URL)
}

extension SessionLogoutFlowDelegate {
    /// Does nothing.
    public func logout<Flow: SessionLogoutFlow>(flow: Flow, received error: OAuth2Error) {}

    /// Does nothing.
    public func logout<Flow: SessionLogoutFlow>(flow: Flow, customizeUrl urlComponents: inout URLComponents) {}

    /// Does nothing.
    public func logout<Flow: SessionLogoutFlow>(flow: Flow, shouldLogoutUsing url: URL) {}
}

extension SessionLogoutFlow {
    /// Begins a sign-out.
    ///
    /// - Parameters:
    ///   - context: What the sign-out asks for.
    ///   - completion: Is called once, on no particular thread.
    nonisolated public func start(
        with context: Context = .init(), completion: @escaping @Sendable (Result<URL, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await self.start(with: context) }
    }
}

extension OAuth2Client {
    /// Makes a flow for this client.
    ///
    /// - Parameter additionalParameters: Further parameters for every sign-out.
    /// - Returns: The flow.
    public func sessionLogoutFlow(additionalParameters: [String: any APIRequestArgument]? = nil) -> SessionLogoutFlow {
        SessionLogoutFlow(client: self, additionalParameters: additionalParameters)
    }
}
