public import AuthFoundation
public import Foundation

/// Exchanges tokens for tokens of another audience or another app (RFC 8693).
/// Apps of one vendor can use the device secret of the first sign-in, so that the user signs in once (OpenID Connect Native SSO for Mobile
/// Apps 1.0).
///
/// ```swift
/// let flow = client.tokenExchangeFlow()
/// let token = try await flow.start(with: [
///     .actor(type: .deviceSecret, value: deviceSecret), .subject(type: .idToken, value: idToken),
/// ])
/// ```
/// A flow can run any number of sign-ins, one at a time. A new `start`, or ``reset()``, supersedes the current sign-in, which fails at once
/// with `OAuth2Error.invalidContext`. Cancelling a call's task ends it at once and revokes tokens that arrive later.
public actor TokenExchangeFlow: AuthenticationFlow, OAuth2ClientDelegate {
    /// The type of the flow's delegates.
    public typealias Delegate = AuthenticationDelegate

    /// The client that signs in.
    nonisolated public let client: OAuth2Client

    /// Additional parameters for every sign-in.
    nonisolated public let additionalParameters: [String: any APIRequestArgument]?

    /// The flow's delegates.
    nonisolated public let delegateCollection = DelegateCollection<any AuthenticationDelegate>()

    nonisolated let progress = SignInProgress<Context>()

    /// The context of the current sign-in; `nil` if there is none.
    nonisolated public var context: Context? { progress.context }

    /// Whether a sign-in is under way.
    nonisolated public var isAuthenticating: Bool { progress.isAuthenticating }

    /// Creates a flow and its client.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client ID that the issuer assigned to the app.
    ///   - scope: The requested scopes.
    ///   - additionalParameters: Additional parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope), additionalParameters: additionalParameters)
    }

    /// Creates a flow and its client.
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The client ID that the issuer assigned to the app.
    ///   - scope: The requested scopes.
    ///   - additionalParameters: Additional parameters for every sign-in.
    public init(
        issuerURL: URL, clientId: String, scope: some WhitespaceSeparated, additionalParameters: [String: any APIRequestArgument]? = nil
    ) {
        self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope), additionalParameters: additionalParameters)
    }

    /// Creates a flow for a client.
    /// - Parameter additionalParameters: Additional parameters for every sign-in.
    public init(client: OAuth2Client, additionalParameters: [String: any APIRequestArgument]? = nil) {
        SDKVersion.register(.oauth2Auth, version: SDKVersion.current)
        self.client = client
        self.additionalParameters = additionalParameters
        client.add(delegate: self)
    }

    /// Exchanges tokens and returns the validated new ones.
    /// - Parameter tokens: The subject token and the optional actor token. The last of several tokens of one kind is used.
    /// - Throws: `OAuth2Error.missingToken(type:)` without a subject token; `APIClientError` if the server returns an error or is
    ///   unreachable; `JWTError` if the ID token is invalid; `OAuth2Error.invalidContext` if the sign-in was superseded; or
    ///   `CancellationError`.
    public func start(with tokens: [TokenType], context: Context = .init()) async throws -> Token {
        try await signIn(context) { [client, additionalParameters] in
            var parameters: [String: any APIRequestArgument] = [:]
            for token in tokens { parameters.merge(token.parameters) { $1 } }
            guard parameters["subject_token"] != nil else { throw OAuth2Error.missingToken(type: .idToken) }
            return try await client.tokens(.tokenExchange, parameters, context: context, flow: additionalParameters)
        }
    }

    /// Cancels the current sign-in. A running call fails at once with `OAuth2Error.invalidContext`.
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
    /// Exchanges tokens, like ``start(with:context:)``.
    /// - Parameter completion: Called once, on an arbitrary thread.
    nonisolated public func start(
        with tokens: [TokenType], context: Context = .init(), completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await self.start(with: tokens, context: context) }
    }
}

extension OAuth2Client {
    /// Creates a flow for this client.
    /// - Parameter additionalParameters: Additional parameters for every sign-in.
    public func tokenExchangeFlow(additionalParameters: [String: any APIRequestArgument]? = nil) -> TokenExchangeFlow {
        TokenExchangeFlow(client: self, additionalParameters: additionalParameters)
    }
}
