public import AuthFoundation
public import Foundation

/// Signs a person in with a username and password and nothing else (RFC 6749, 4.3).
///
/// OAuth 2.1 has no such grant any more: a password typed into an app is seen by the app, and there is no second factor. It is here for
/// servers that have nothing better; `DirectAuthenticationFlow` of the module OktaDirectAuth knows second factors.
///
/// One flow serves any number of sign-ins, one after the other. A `start` and ``reset()`` supersede what is under way, which ends at once with
/// `OAuth2Error.invalidContext`. Cancelling the task of a call ends it at once; tokens that come all the same are revoked.
public actor ResourceOwnerFlow: AuthenticationFlow {
    /// What observes a flow.
    public typealias Delegate = AuthenticationDelegate

    /// What one sign-in asks for.
    public typealias Context = StandardAuthenticationContext

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
    }

    /// Signs in.
    ///
    /// - Parameters:
    ///   - username: The username.
    ///   - password: The password.
    ///   - context: What the sign-in asks for.
    /// - Returns: The tokens, validated.
    /// - Throws: `APIClientError` if the server refuses or is not reached, `JWTError` if the ID token is not acceptable,
    ///   `OAuth2Error.invalidContext` if the sign-in has been superseded, or `CancellationError`.
    public func start(username: String, password: String, context: Context = .init()) async throws -> Token {
        try await signIn(context) { [client, additionalParameters] in
            try await client.tokens(
                .password, ["username": username, "password": password], context: context, flow: additionalParameters)
        }
    }

    /// Forgets the sign-in under way. A call that is under way ends at once with `OAuth2Error.invalidContext`.
    public func reset() {
        progress.reset()
    }
}

extension ResourceOwnerFlow: SignInFlow {
    @MainActor func tell(_ words: @Sendable (any AuthenticationDelegate) -> Void) {
        delegateCollection.invoke { words($0) }
    }
}

extension ResourceOwnerFlow {
    /// Signs in.
    ///
    /// - Parameters:
    ///   - username: The username.
    ///   - password: The password.
    ///   - context: What the sign-in asks for.
    ///   - completion: Is called once, on no particular thread.
    nonisolated public func start(
        username: String, password: String, context: Context = .init(),
        completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await self.start(username: username, password: password, context: context) }
    }
}

extension OAuth2Client {
    /// Makes a flow for this client.
    ///
    /// - Parameter additionalParameters: Further parameters for every sign-in.
    /// - Returns: The flow.
    public func resourceOwnerFlow(additionalParameters: [String: any APIRequestArgument]? = nil) -> ResourceOwnerFlow {
        ResourceOwnerFlow(client: self, additionalParameters: additionalParameters)
    }
}
