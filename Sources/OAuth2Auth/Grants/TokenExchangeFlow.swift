public import AuthFoundation
public import Foundation

/// Trades tokens of one app for those of another, or for others (RFC 8693): among apps of one maker, with the device secret of the first
/// sign-in, the person signs in once (OpenID Connect Native SSO for Mobile Apps 1.0).
///
/// ```swift
/// let flow = client.tokenExchangeFlow()
/// let token = try await flow.start(with: [
///     .actor(type: .deviceSecret, value: deviceSecret), .subject(type: .idToken, value: idToken),
/// ])
/// ```
///
/// One flow serves any number of sign-ins, one after the other. A `start` and ``reset()`` supersede what is under way, which ends at once with
/// `OAuth2Error.invalidContext`. Cancelling the task of a call ends it at once; tokens that come all the same are revoked.
public actor TokenExchangeFlow: AuthenticationFlow, OAuth2ClientDelegate {
    /// What observes a flow.
    public typealias Delegate = AuthenticationDelegate

    /// The client that signs in.
    nonisolated public let client: OAuth2Client

    /// Further parameters for every sign-in.
    nonisolated public let additionalParameters: [String: any APIRequestArgument]?

    /// What observes the flow.
    nonisolated public let delegateCollection = DelegateCollection<any AuthenticationDelegate>()

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
    ///   - additionalParameters: Further parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope), additionalParameters: additionalParameters)
    }

    /// Makes a flow and the client for it.
    ///
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The identifier that the issuer gave the app.
    ///   - scope: What the app asks for.
    ///   - additionalParameters: Further parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: some WhitespaceSeparated, additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope), additionalParameters: additionalParameters)
    }

    /// Makes a flow.
    ///
    /// - Parameters:
    ///   - client: The client that signs in.
    ///   - additionalParameters: Further parameters for every sign-in.
    public init(client: OAuth2Client, additionalParameters: [String: any APIRequestArgument]? = nil) {
        SDKVersion.register(.oauth2Auth, version: SDKVersion.current)
        self.client = client
        self.additionalParameters = additionalParameters
        client.add(delegate: self)
    }

    /// Trades tokens.
    ///
    /// - Parameters:
    ///   - tokens: The subject token, and the actor token if there is one; of several of a kind the last counts.
    ///   - context: What the exchange asks for.
    /// - Returns: The tokens, validated.
    /// - Throws: `OAuth2Error.missingToken(type:)` without a subject token; `APIClientError` if the server refuses or is not
    ///   reached, `JWTError` if the ID token is not acceptable, `OAuth2Error.invalidContext` if the sign-in has been superseded, or `CancellationError`.
    public func start(with tokens: [TokenType], context: Context = .init()) async throws -> Token {
        try await signIn(context) { [client, additionalParameters] in
            var parameters: [String: any APIRequestArgument] = [:]
            for token in tokens { parameters.merge(token.parameters) { $1 } }
            guard parameters["subject_token"] != nil else { throw OAuth2Error.missingToken(type: .idToken) }
            return try await client.tokens(.tokenExchange, parameters, context: context, flow: additionalParameters)
        }
    }

    /// Forgets the sign-in under way. A call that is under way ends at once with `OAuth2Error.invalidContext`.
    public func reset() {
        progress.reset()
    }
}

extension TokenExchangeFlow: SignInFlow {
    @MainActor func tell(_ words: @Sendable (any AuthenticationDelegate) -> Void) {
        delegateCollection.invoke { words($0) }
    }
}

extension TokenExchangeFlow {
    /// Trades tokens.
    ///
    /// - Parameters:
    ///   - tokens: The subject token, and the actor token if there is one.
    ///   - context: What the exchange asks for.
    ///   - completion: Is called once, on no particular thread.
    nonisolated public func start(
        with tokens: [TokenType], context: Context = .init(), completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await self.start(with: tokens, context: context) }
    }
}

extension OAuth2Client {
    /// Makes a flow for this client.
    ///
    /// - Parameter additionalParameters: Further parameters for every sign-in.
    /// - Returns: The flow.
    public func tokenExchangeFlow(additionalParameters: [String: any APIRequestArgument]? = nil) -> TokenExchangeFlow {
        TokenExchangeFlow(client: self, additionalParameters: additionalParameters)
    }
}
