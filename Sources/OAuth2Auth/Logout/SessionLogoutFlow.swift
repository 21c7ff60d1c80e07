public import AuthFoundation
public import Foundation
public import JOSE

/// A flow that ends the user's session at the server, in a browser (OpenID Connect RP-Initiated Logout 1.0).
///
/// ```swift
/// let flow = SessionLogoutFlow(client: credential.oauth2)
/// let url = try await flow.start(with: .init(token: credential.token))
/// // Open the URL in a browser. When the browser is sent to the logout redirect URI:
/// try await flow.resume(with: redirect)
/// try await credential.revoke()
/// ```
/// Only the browser session ends. Tokens are not revoked and stay on the device; to revoke them, call `Credential.revoke(type:)`. A flow
/// can run any number of sign-outs, one at a time. A new `start` supersedes the current sign-out.
public actor SessionLogoutFlow: LogoutFlow, OAuth2ClientDelegate {
    /// The type of the flow's delegates.
    public typealias Delegate = SessionLogoutFlowDelegate

    /// The client that signs out.
    nonisolated public let client: OAuth2Client

    /// Additional parameters for every sign-out. A `prompt` is meant for sign-ins and is not sent.
    nonisolated public let additionalParameters: [String: any APIRequestArgument]?

    /// The flow's delegates.
    nonisolated public let delegateCollection = DelegateCollection<any SessionLogoutFlowDelegate>()

    nonisolated private let progress = SignInProgress<Context>()

    /// The context of the current sign-out; `nil` if there is none.
    nonisolated public var context: Context? { progress.context }

    /// Whether a sign-out is in progress.
    nonisolated public var inProgress: Bool { progress.isAuthenticating }

    /// Creates a flow and its client.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client ID that the issuer assigned to the app.
    ///   - scope: The scopes requested at sign-in.
    ///   - logoutRedirectUri: The registered redirect URI; if `nil`, the browser stays on the server's page.
    ///   - additionalParameters: Additional parameters for every sign-out.
    public init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: String]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope, logoutRedirectUri: logoutRedirectUri),
            additionalParameters: additionalParameters)
    }

    /// Creates a flow and its client.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client ID that the issuer assigned to the app.
    ///   - scope: The scopes requested at sign-in.
    ///   - logoutRedirectUri: The registered redirect URI; if `nil`, the browser stays on the server's page.
    ///   - additionalParameters: Additional parameters for every sign-out.
    public init(
        issuerURL: URL, clientId: String, scope: some WhitespaceSeparated, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: String]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope, logoutRedirectUri: logoutRedirectUri),
            additionalParameters: additionalParameters)
    }

    /// Creates a flow for a client.
    /// - Parameter additionalParameters: Additional parameters for every sign-out.
    public init(client: OAuth2Client, additionalParameters: [String: any APIRequestArgument]? = nil) {
        SDKVersion.register(.oauth2Auth, version: SDKVersion.current)
        self.client = client
        self.additionalParameters = additionalParameters
        client.add(delegate: self)
    }

    /// Starts a sign-out and returns the URL to open in the browser.
    /// If an error is thrown, the sign-out has ended.
    /// - Throws: `OAuth2Error.missingOpenIdConfiguration(attribute:)` if the server does not support sign-out; `APIClientError` if the
    ///   discovery document cannot be fetched; `OAuth2Error.invalidContext` if the sign-out was superseded; or `CancellationError`.
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

    /// Completes a sign-out with the browser's redirect.
    /// A redirect that does not belong to this sign-out is rejected and changes nothing.
    /// - Parameter url: The URL to which the browser was redirected.
    /// - Throws: `OAuth2Error.invalidContext` if no sign-out waits for a redirect; `OAuth2Error.redirectUri(_:reason:)` if the redirect URI
    ///   or the state differs; `OAuth2ServerError` if the redirect reports an error.
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

    /// Cancels the current sign-out. A running call fails at once with `OAuth2Error.invalidContext`.
    public func cancel() {
        progress.reset()
    }

    /// Cancels the current sign-out, like ``cancel()``.
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
    /// Whether the `prompt` asks the server to start another sign-in at once.
    fileprivate var staysAtServer: Bool {
        let words = additionalParameters?["prompt"]?.stringValue.whitespaceSeparated ?? []
        return words.contains("login") || words.contains("consent")
    }
}

/// An observer of a ``SessionLogoutFlow``. Methods are called on the main actor.
public protocol SessionLogoutFlowDelegate: LogoutFlowDelegate {
    /// Called when a sign-out has failed.
    func logout<Flow: SessionLogoutFlow>(flow: Flow, received error: OAuth2Error)

    /// Called before the URL is used. The delegate can change the URL.
    func logout<Flow: SessionLogoutFlow>(flow: Flow, customizeUrl urlComponents: inout URLComponents)

    /// Called when the URL for the browser is ready.
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
    /// Starts a sign-out, like ``start(with:)``.
    /// - Parameter completion: Called once, on an arbitrary thread.
    nonisolated public func start(
        with context: Context = .init(), completion: @escaping @Sendable (Result<URL, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await self.start(with: context) }
    }
}

extension OAuth2Client {
    /// Creates a flow for this client.
    /// - Parameter additionalParameters: Additional parameters for every sign-out.
    public func sessionLogoutFlow(additionalParameters: [String: any APIRequestArgument]? = nil) -> SessionLogoutFlow {
        SessionLogoutFlow(client: self, additionalParameters: additionalParameters)
    }
}

extension SessionLogoutFlow {
    /// The parameters and state of one sign-out. Descriptions of a context show no secret.
    public struct Context: Equatable, Sendable {
        /// The value that identifies the redirect of this sign-out.
        public let state: String

        /// The ID token of the session to end; `nil` if there is none.
        public var idToken: String?

        /// The username of the session to end; `nil` if it is unknown.
        public var logoutHint: String?

        /// Additional parameters. With a `prompt` of `login` or `consent`, the browser stays on the server's pages and is not redirected.
        public var additionalParameters: [String: any APIRequestArgument]?

        /// The URL to open in the browser; `nil` before ``SessionLogoutFlow/start(with:)`` returns.
        public internal(set) var logoutURL: URL?

        /// The redirect URI of this sign-out, if it differs from the configuration's: a loopback address with the app's port (RFC 8252
        /// §7.3).
        package var redirectUri: URL?

        /// Creates the context of a sign-out.
        /// - Parameters:
        ///   - idToken: The ID token of the session to end.
        ///   - logoutHint: The username of the session to end.
        ///   - state: The value that identifies the redirect: letters, digits and `,._-`; `nil` for a random value.
        ///   - additionalParameters: Additional parameters.
        public init(
            idToken: String? = nil, logoutHint: String? = nil, state: String? = nil,
            additionalParameters: [String: any APIRequestArgument]? = nil
        ) {
            self.idToken = idToken
            self.logoutHint = logoutHint
            self.state = state ?? Randomness.system.identifier
            self.additionalParameters = additionalParameters
        }

        /// Creates the context of a sign-out.
        /// - Parameters:
        ///   - token: The tokens of the session to end. If they contain no ID token, the server receives only the client ID.
        ///   - logoutHint: The username of the session to end.
        ///   - state: The value that identifies the redirect: letters, digits and `,._-`; `nil` for a random value.
        ///   - additionalParameters: Additional parameters.
        public init(
            token: Token, logoutHint: String? = nil, state: String? = nil, additionalParameters: [String: any APIRequestArgument]? = nil
        ) {
            self.init(idToken: token.idToken?.rawValue, logoutHint: logoutHint, state: state, additionalParameters: additionalParameters)
        }

        /// Whether two contexts have equal parameters and equal URLs.
        public static func == (lhs: Context, rhs: Context) -> Bool {
            lhs.state == rhs.state && lhs.idToken == rhs.idToken && lhs.logoutHint == rhs.logoutHint && lhs.logoutURL == rhs.logoutURL
                && lhs.redirectUri == rhs.redirectUri
                && lhs.additionalParameters?.mapValues(\.stringValue) == rhs.additionalParameters?.mapValues(\.stringValue)
        }
    }
}

extension SessionLogoutFlow.Context: Redacted {
    /// Whether there is an ID token; no secret and no personal data.
    public var description: String { "Context(\(idToken == nil ? "no ID token" : "with ID token"))" }
}

/// A sign-out flow. Flows are actors.
public protocol LogoutFlow: Actor, UsesDelegateCollection {
    /// Whether a sign-out is in progress.
    var inProgress: Bool { get }

    /// Cancels the current sign-out.
    func cancel()

    /// Resets the flow and cancels the current sign-out.
    func reset()
}

/// An observer of a sign-out. Methods are called on the main actor.
public protocol LogoutFlowDelegate: AnyObject {
    /// Called when a sign-out has failed.
    func logout<Flow>(flow: Flow, received error: OAuth2Error)
}

extension LogoutFlowDelegate {
    /// Does nothing.
    public func logout<Flow>(flow: Flow, received error: OAuth2Error) {}
}
