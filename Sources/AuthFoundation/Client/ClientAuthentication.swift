public import JOSE

extension OAuth2Client {
    /// The authentication method of a client. For other methods, see ``ConfidentialAuthentication``.
    public enum ClientAuthentication: Codable, Equatable, Hashable, Sendable, ProvidesOAuth2Parameters {
        /// No authentication. Use it for apps on user devices, which cannot keep a secret.
        case none
        /// A secret in the request body.
        case clientSecret(String)

        /// Returns the secret for requests that go directly to the server. Requests through a browser never contain it.
        public func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]? {
            guard case .clientSecret(let secret) = self, category == .token || category == .other else { return nil }
            return ["client_secret": secret]
        }
    }

    /// Further authentication methods for clients with a secret or a key (OpenID Connect Core 1.0, 9). If ``Configuration`` has both this
    /// value and `authentication`, this value is used. Descriptions contain no secret.
    public struct ConfidentialAuthentication: Codable, Equatable, Hashable, Sendable {
        /// The name of a method, as in discovery documents.
        public enum Method: String, Codable, Sendable {
            /// The secret in the `Authorization` header.
            case clientSecretBasic = "client_secret_basic"
            /// The secret in the request body.
            case clientSecretPost = "client_secret_post"
            /// An assertion signed with the secret.
            case clientSecretJWT = "client_secret_jwt"
            /// An assertion signed with a private key.
            case privateKeyJWT = "private_key_jwt"
        }

        /// The authentication method.
        public let method: Method

        /// The secret, or the private key as a JSON Web Key.
        let secret: String

        /// The signature algorithm of assertions.
        let algorithm: JWK.Algorithm?

        private init(method: Method, secret: String, algorithm: JWK.Algorithm? = nil) {
            self.method = method
            self.secret = secret
            self.algorithm = algorithm
        }

        /// Sends the secret in the `Authorization` header.
        public static func clientSecretBasic(_ secret: String) -> Self {
            Self(method: .clientSecretBasic, secret: secret)
        }

        /// Sends the secret in the request body.
        public static func clientSecretPost(_ secret: String) -> Self {
            Self(method: .clientSecretPost, secret: secret)
        }

        /// Sends an assertion signed with the secret (RFC 7523, 2.2).
        /// - Parameters:
        ///   - secret: The secret: at least 32 bytes for HS256, 48 for HS384, 64 for HS512.
        ///   - algorithm: HS256, HS384 or HS512.
        public static func clientSecretJWT(_ secret: String, algorithm: JWK.Algorithm = .hs256) -> Self {
            Self(method: .clientSecretJWT, secret: secret, algorithm: algorithm)
        }

        /// Sends an assertion signed with a private key (RFC 7523, 2.2).
        /// - Parameters:
        ///   - jwk: The private key as a JSON Web Key, with the `kid` that the server knows.
        ///   - algorithm: RS, PS or ES with 256, 384 or 512, or EdDSA. It must match the key.
        public static func privateKeyJWT(jwk: String, algorithm: JWK.Algorithm = .rs256) -> Self {
            Self(method: .privateKeyJWT, secret: jwk, algorithm: algorithm)
        }
    }
}

extension OAuth2Client.ClientAuthentication: Redacted {
    /// The method, without the secret.
    public var description: String {
        switch self {
        case .none: "none"
        case .clientSecret: "clientSecret(…)"
        }
    }
}

extension OAuth2Client.ConfidentialAuthentication: Redacted {
    /// The method, without the secret or key.
    public var description: String { "\(method.rawValue)(…)" }
}
