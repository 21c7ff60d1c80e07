public import AuthFoundation
public import JOSE

extension TokenExchangeFlow {
    /// Whom the new tokens are for.
    public enum Audience: APIRequestArgument, Sendable {
        /// `api://default`
        case `default`
        /// Another.
        case custom(String)

        /// The parameter's value.
        public var stringValue: String {
            switch self {
            case .default: "api://default"
            case .custom(let audience): audience
            }
        }
    }

    /// A token that is traded. Its descriptions don't show the token.
    public enum TokenType: Sendable {
        /// The token of whoever acts: with native SSO the device secret.
        case actor(type: Kind, value: String)
        /// The token of whom it is about: with native SSO the ID token.
        case subject(type: Kind, value: String)

        /// What a token is.
        public enum Kind: String, Sendable {
            /// An ID token.
            case idToken = "id_token"
            /// An access token.
            case accessToken = "access_token"
            /// A device secret.
            case deviceSecret = "device-secret"
            /// A refresh token.
            case refreshToken = "refresh_token"

            /// The name by RFC 8693, 3; the device secret is the one that is not standardized.
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

    /// What one exchange asks for.
    public struct Context: AuthenticationContext {
        /// Whom the new tokens are for.
        public var audience: Audience

        /// The assurance levels that they must reach.
        @ClaimCollection public var acrValues: [String]?

        /// Further parameters.
        public var additionalParameters: [String: any APIRequestArgument]?

        /// Takes what the exchange asks for.
        ///
        /// - Parameters:
        ///   - audience: Whom the new tokens are for.
        ///   - acrValues: The assurance levels that they must reach.
        ///   - additionalParameters: Further parameters.
        public init(
            audience: Audience = .default, acrValues: ClaimCollection<[String]?> = nil,
            additionalParameters: [String: any APIRequestArgument]? = nil
        ) {
            self.audience = audience
            _acrValues = acrValues
            self.additionalParameters = additionalParameters
        }

        /// The further parameters, the audience and the assurance levels.
        ///
        /// - Parameter category: What the request is for.
        /// - Returns: The parameters.
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
