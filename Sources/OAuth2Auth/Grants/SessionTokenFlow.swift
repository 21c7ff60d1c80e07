public import AuthFoundation
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Trades the one-time session token of the classic sign-in for tokens, without showing a browser (oauth reference 7.6).
///
/// It asks the server for the page that a browser would be sent to, and takes the code from the redirect. One flow serves any number of
/// sign-ins, one after the other. A `start` and ``reset()`` supersede what is under way, which ends at once with `OAuth2Error.invalidContext`.
/// Cancelling the task of a call ends it at once; tokens that come all the same are revoked.
public actor SessionTokenFlow: AuthenticationFlow {
    /// What observes a flow.
    public typealias Delegate = AuthenticationDelegate

    /// What one sign-in asks for.
    public typealias Context = AuthorizationCodeFlow.Context

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
    ///   - redirectUri: Where a browser would return to, as the issuer knows it. Nothing is asked for there.
    ///   - additionalParameters: Further parameters for every sign-in.
    /// - Throws: Nothing.
    public init(
        issuerURL: URL, clientId: String, scope: ClaimCollection<[String]>, redirectUri: URL,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) throws {
        try self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope, redirectUri: redirectUri),
            additionalParameters: additionalParameters)
    }

    /// Makes a flow and the client for it.
    ///
    /// - Parameters:
    ///   - issuerURL: The issuer: https, or http on a loopback host.
    ///   - clientId: The identifier that the issuer gave the app.
    ///   - scope: What the app asks for.
    ///   - redirectUri: Where a browser would return to, as the issuer knows it. Nothing is asked for there.
    ///   - additionalParameters: Further parameters for every sign-in.
    /// - Throws: Nothing.
    public init(
        issuerURL: URL, clientId: String, scope: some WhitespaceSeparated, redirectUri: URL,
        additionalParameters: [String: any APIRequestArgument]? = nil
    ) throws {
        try self.init(
            client: OAuth2Client(issuerURL: issuerURL, clientId: clientId, scope: scope, redirectUri: redirectUri),
            additionalParameters: additionalParameters)
    }

    /// Makes a flow.
    ///
    /// - Parameters:
    ///   - client: The client that signs in. A session that it was given should give redirects to other schemes to the caller.
    ///   - additionalParameters: Further parameters for every sign-in.
    /// - Throws: `OAuth2Error.redirectUriRequired` if the client's configuration has no redirect URI.
    public init(client: OAuth2Client, additionalParameters: [String: any APIRequestArgument]? = nil) throws {
        guard client.configuration.redirectUri != nil else { throw OAuth2Error.redirectUriRequired }
        SDKVersion.register(.oauth2Auth, version: SDKVersion.current)
        self.client = client
        self.additionalParameters = additionalParameters
    }

    /// Signs in.
    ///
    /// - Parameters:
    ///   - sessionToken: The session token. It is good once.
    ///   - context: What the sign-in asks for. One that has been used before gets random values anew, except for a `state` and a `nonce` that
    ///     the app chose.
    /// - Returns: The tokens, validated.
    /// - Throws: `OAuth2Error.missingLocationHeader` if the server shows a page rather than redirecting: the session token is not good;
    ///   `OAuth2Error.redirectUri(_:reason:)` if it redirects elsewhere; and what ``AuthorizationCodeFlow/resume(with:)`` throws.
    public func start(with sessionToken: String, context: Context = .init()) async throws -> Token {
        let context = context.forSignIn()
        return try await signIn(context) { [client, additionalParameters] in
            let provider = try await client.openIdConfiguration()
            var context = context
            // A pushed request has no member for it.
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

    /// Forgets the sign-in under way. A call that is under way ends at once with `OAuth2Error.invalidContext`.
    public func reset() {
        progress.reset()
    }
}

extension SessionTokenFlow: SignInFlow {
    @MainActor func tell(_ words: @Sendable (any AuthenticationDelegate) -> Void) {
        delegateCollection.invoke { words($0) }
    }
}

extension SessionTokenFlow {
    /// Signs in.
    ///
    /// - Parameters:
    ///   - sessionToken: The session token.
    ///   - context: What the sign-in asks for.
    ///   - completion: Is called once, on no particular thread.
    nonisolated public func start(
        with sessionToken: String, context: Context = .init(), completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await self.start(with: sessionToken, context: context) }
    }
}

extension OAuth2Client {
    /// Makes a flow for this client.
    ///
    /// - Parameter additionalParameters: Further parameters for every sign-in.
    /// - Returns: The flow.
    /// - Throws: `OAuth2Error.redirectUriRequired` if the client's configuration has no redirect URI.
    public func sessionTokenFlow(additionalParameters: [String: any APIRequestArgument]? = nil) throws -> SessionTokenFlow {
        try SessionTokenFlow(client: self, additionalParameters: additionalParameters)
    }
}
