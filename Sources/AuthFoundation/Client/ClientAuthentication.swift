public import JOSE

extension OAuth2Client {
    /// How a client proves who it is.
    ///
    /// For the other methods see ``ConfidentialAuthentication``.
    public enum ClientAuthentication: Codable, Equatable, Hashable, Sendable, ProvidesOAuth2Parameters {
        /// It does not: an app on a person's device can keep no secret.
        case none
        /// By a secret in the body of its requests.
        case clientSecret(String)

        /// The secret, for requests that go straight to the server; never for those that go through a browser.
        ///
        /// - Parameter category: What the request is for.
        /// - Returns: The parameters.
        public func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]? {
            guard case .clientSecret(let secret) = self, category == .token || category == .other else { return nil }
            return ["client_secret": secret]
        }
    }

    /// The further ways in which a client with a secret or a key of its own proves who it is (OpenID Connect Core 1.0, 9).
    ///
    /// It is a member of ``Configuration`` beside the published `authentication`, and comes before it. Descriptions show no secret.
    public struct ConfidentialAuthentication: Codable, Equatable, Hashable, Sendable {
        /// The name of a method, as discovery documents have it.
        public enum Method: String, Codable, Sendable {
            /// The secret in the header `Authorization`.
            case clientSecretBasic = "client_secret_basic"
            /// The secret in the body.
            case clientSecretPost = "client_secret_post"
            /// An assertion made with the secret.
            case clientSecretJWT = "client_secret_jwt"
            /// An assertion made with a private key.
            case privateKeyJWT = "private_key_jwt"
        }

        /// Which method.
        public let method: Method

        /// The secret, or the private key as a JSON Web Key.
        let secret: String

        /// The algorithm of assertions.
        let algorithm: JWK.Algorithm?

        private init(method: Method, secret: String, algorithm: JWK.Algorithm? = nil) {
            self.method = method
            self.secret = secret
            self.algorithm = algorithm
        }

        /// The secret in the header `Authorization`.
        ///
        /// - Parameter secret: The secret.
        /// - Returns: The method.
        public static func clientSecretBasic(_ secret: String) -> Self {
            Self(method: .clientSecretBasic, secret: secret)
        }

        /// The secret in the body.
        ///
        /// - Parameter secret: The secret.
        /// - Returns: The method.
        public static func clientSecretPost(_ secret: String) -> Self {
            Self(method: .clientSecretPost, secret: secret)
        }

        /// An assertion made with the secret (RFC 7523, 2.2).
        ///
        /// - Parameters:
        ///   - secret: The secret: at least 32 bytes for HS256, 48 for HS384, 64 for HS512.
        ///   - algorithm: HS256, HS384 or HS512.
        /// - Returns: The method.
        public static func clientSecretJWT(_ secret: String, algorithm: JWK.Algorithm = .hs256) -> Self {
            Self(method: .clientSecretJWT, secret: secret, algorithm: algorithm)
        }

        /// An assertion made with a private key (RFC 7523, 2.2).
        ///
        /// - Parameters:
        ///   - jwk: The private key as a JSON Web Key, with the `kid` that the server knows it by.
        ///   - algorithm: RS, PS or ES with 256, 384 or 512, or EdDSA, as fits the key.
        /// - Returns: The method.
        public static func privateKeyJWT(jwk: String, algorithm: JWK.Algorithm = .rs256) -> Self {
            Self(method: .privateKeyJWT, secret: jwk, algorithm: algorithm)
        }
    }
}

extension OAuth2Client.ClientAuthentication: Redacted {
    /// The method without the secret.
    public var description: String {
        switch self {
        case .none: "none"
        case .clientSecret: "clientSecret(…)"
        }
    }
}

extension OAuth2Client.ConfidentialAuthentication: Redacted {
    /// The method without secret or key.
    public var description: String { "\(method.rawValue)(…)" }
}
