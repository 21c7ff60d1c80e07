public import AuthFoundation
public import JOSE

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

    /// A token to exchange. Its descriptions do not show the token.
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
        ///   - additionalParameters: Additional parameters.
        public init(
            audience: Audience = .default, acrValues: ClaimCollection<[String]?> = nil,
            additionalParameters: [String: any APIRequestArgument]? = nil
        ) {
            self.audience = audience
            _acrValues = acrValues
            self.additionalParameters = additionalParameters
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
    /// The kind of the token; not the token.
    public var description: String {
        switch self {
        case .actor(let kind, _): "actor(\(kind.rawValue))"
        case .subject(let kind, _): "subject(\(kind.rawValue))"
        }
    }
}
