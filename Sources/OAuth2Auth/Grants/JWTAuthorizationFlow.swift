public import AuthFoundation
public import Foundation

/// A flow that signs in with an assertion from an issuer that the server trusts (RFC 7523 §2.1).
/// A flow can run any number of sign-ins, one at a time. A new `start`, or ``reset()``, supersedes the current sign-in, which fails at once
/// with `OAuth2Error.invalidContext`. Cancelling a call's task ends the call at once and revokes tokens that arrive later.
public actor JWTAuthorizationFlow: AuthenticationFlow, OAuth2ClientDelegate {
    /// The type of the flow's delegates.
    public typealias Delegate = AuthenticationDelegate

    /// The context of one sign-in.
    public typealias Context = StandardAuthenticationContext

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
    }

    /// Signs in and returns the validated tokens.
    /// - Parameter assertion: The assertion. It is sent unchanged; the server validates it.
    /// - Throws: `APIClientError` if the server returns an error or is unreachable; `JWTError` if the ID token is invalid;
    ///   `OAuth2Error.invalidContext` if the sign-in was superseded; or `CancellationError`.
    public func start(with assertion: JWT, context: Context = .init()) async throws -> Token {
        try await signIn(context) { [client, additionalParameters] in
            try await client.tokens(.jwtBearer, ["assertion": assertion], context: context, flow: additionalParameters)
        }
    }

    /// Cancels the current sign-in. A running call fails at once with `OAuth2Error.invalidContext`.
    public func reset() {
        progress.reset()
    }
}

extension JWTAuthorizationFlow: SignInFlow {}

extension JWTAuthorizationFlow {
    /// Signs in, like ``start(with:context:)``.
    /// - Parameter completion: Called once, on an arbitrary thread.
    nonisolated public func start(
        with assertion: JWT, context: Context = .init(), completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await self.start(with: assertion, context: context) }
    }
}

extension OAuth2Client {
    /// Creates a flow for this client.
    /// - Parameter additionalParameters: Additional parameters for every sign-in.
    public func jwtAuthorizationFlow(additionalParameters: [String: any APIRequestArgument]? = nil) -> JWTAuthorizationFlow {
        JWTAuthorizationFlow(client: self, additionalParameters: additionalParameters)
    }
}
