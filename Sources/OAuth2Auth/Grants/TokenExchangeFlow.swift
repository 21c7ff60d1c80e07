public import AuthFoundation
public import Foundation
public import JOSE

/// A flow that exchanges tokens for tokens of another audience or another app (RFC 8693).
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
/// with `OAuth2Error.invalidContext`. Cancelling a call's task ends the call at once and revokes tokens that arrive later.
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
        client.add(delegate: self)
    }

    /// Exchanges tokens and returns the validated new tokens.
    /// - Parameter tokens: The subject token and the optional actor token. If there are several subject tokens or several actor tokens, the
    ///   last one is used.
    /// - Throws: `OAuth2Error.missingToken(type:)` if there is no subject token; `APIClientError` if the server returns an error or is
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

extension TokenExchangeFlow: SignInFlow {}

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

extension TokenExchangeFlow {
    /// The audience of the new tokens.
    public enum Audience: APIRequestArgument, Sendable {
        /// The audience `api://default`.
        case `default`
        /// Another audience.
        case custom(String)

        /// The parameter's value.
        public var stringValue: String {
            switch self {
            case .default: "api://default"
            case .custom(let audience): audience
            }
        }
    }

    /// A token to exchange. Descriptions do not contain the value of the token.
    public enum TokenType: Sendable {
        /// The token of the acting party; for native SSO, the device secret.
        case actor(type: Kind, value: String)
        /// The token of the subject; for native SSO, the ID token.
        case subject(type: Kind, value: String)

        /// The kind of a token.
        public enum Kind: String, Sendable {
            /// An ID token.
            case idToken = "id_token"
            /// An access token.
            case accessToken = "access_token"
            /// A device secret.
            case deviceSecret = "device-secret"
            /// A refresh token.
            case refreshToken = "refresh_token"

            /// The identifier in RFC 8693 §3. The identifier of the device secret is not standardized.
            var identifier: String {
                self == .deviceSecret
                    ? "urn:x-oath:params:oauth:token-type:\(rawValue)" : "urn:ietf:params:oauth:token-type:\(rawValue)"
            }
        }

        var parameters: [String: any APIRequestArgument] {
            switch self {
            case .actor(let kind, let value): ["actor_token": value, "actor_token_type": kind.identifier]
            case .subject(let kind, let value): ["subject_token": value, "subject_token_type": kind.identifier]
            }
        }
    }

    /// The parameters of one exchange.
    public struct Context: AuthenticationContext {
        /// The audience of the new tokens.
        public var audience: Audience

        /// The required assurance levels (ACR values).
        @ClaimCollection public var acrValues: [String]?

        /// Additional parameters.
        public var additionalParameters: [String: any APIRequestArgument]?

        /// Creates the context of an exchange.
        /// - Parameters:
        ///   - audience: The audience of the new tokens.
        ///   - acrValues: The required assurance levels.
        ///   - additionalParameters: Additional parameters. The parameter `acr_values` sets ``acrValues``, unless `acrValues` is given.
        public init(
            audience: Audience = .default, acrValues: ClaimCollection<[String]?> = nil,
            additionalParameters: [String: any APIRequestArgument]? = nil
        ) {
            self.audience = audience
            (_acrValues, self.additionalParameters) = additionalParameters.takingAssuranceLevels(or: acrValues)
        }

        /// Returns the additional parameters and, for a token request, the audience and the assurance levels.
        public func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]? {
            var parameters = additionalParameters
            guard category == .token else { return parameters }
            parameters.merge(["audience": audience])
            if acrValues != nil { parameters.merge(["acr_values": $acrValues]) }
            return parameters
        }
    }
}

extension TokenExchangeFlow.TokenType: Redacted {
    /// The role and the kind of the token, without its value.
    public var description: String {
        switch self {
        case .actor(let kind, _): "actor(\(kind.rawValue))"
        case .subject(let kind, _): "subject(\(kind.rawValue))"
        }
    }
}
