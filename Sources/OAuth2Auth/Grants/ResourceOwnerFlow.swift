public import AuthFoundation
public import Foundation

/// A flow that signs a user in with a username and password (RFC 6749 §4.3).
/// OAuth 2.1 removes this grant: the app sees the password, and a second factor is not possible. Use it only for servers that support
/// nothing better. `DirectAuthenticationFlow` in OktaDirectAuth supports second factors.
/// A flow can run any number of sign-ins, one at a time. A new `start`, or ``reset()``, supersedes the current sign-in, which fails at once
/// with `OAuth2Error.invalidContext`. Cancelling a call's task ends the call at once and revokes tokens that arrive later.
public actor ResourceOwnerFlow: AuthenticationFlow, OAuth2ClientDelegate {
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
    /// - Throws: `APIClientError` if the server returns an error or is unreachable; `JWTError` if the ID token is invalid;
    ///   `OAuth2Error.invalidContext` if the sign-in was superseded; or `CancellationError`.
    public func start(username: String, password: String, context: Context = .init()) async throws -> Token {
        try await signIn(context) { [client, additionalParameters] in
            try await client.tokens(
                .password, ["username": username, "password": password], context: context, flow: additionalParameters)
        }
    }

    /// Cancels the current sign-in. A running call fails at once with `OAuth2Error.invalidContext`.
    public func reset() {
        progress.reset()
    }
}

extension ResourceOwnerFlow: SignInFlow {}

extension ResourceOwnerFlow {
    /// Signs in, like ``start(username:password:context:)``.
    /// - Parameter completion: Called once, on an arbitrary thread.
    nonisolated public func start(
        username: String, password: String, context: Context = .init(),
        completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await self.start(username: username, password: password, context: context) }
    }
}

extension OAuth2Client {
    /// Creates a flow for this client.
    /// - Parameter additionalParameters: Additional parameters for every sign-in.
    public func resourceOwnerFlow(additionalParameters: [String: any APIRequestArgument]? = nil) -> ResourceOwnerFlow {
        ResourceOwnerFlow(client: self, additionalParameters: additionalParameters)
    }
}
