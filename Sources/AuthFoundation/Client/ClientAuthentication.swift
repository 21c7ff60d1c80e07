public import Foundation
public import JOSE

extension OAuth2Client {
    /// The authentication method of a client. For other methods, see ``ConfidentialAuthentication``.
    public enum ClientAuthentication: Codable, Equatable, Hashable, Sendable, ProvidesOAuth2Parameters {
        /// No authentication. Use it for apps on user devices, which cannot keep a secret.
        case none
        /// A secret in the request body.
        case clientSecret(String)

        /// Returns the parameter `client_secret` for the categories `token` and `other`; `nil` for other categories and for `none`.
        /// Requests through a browser never contain the secret.
        public func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]? {
            guard case .clientSecret(let secret) = self, category == .token || category == .other else { return nil }
            return ["client_secret": secret]
        }
    }

    /// Further authentication methods for clients with a secret or a key (OpenID Connect Core 1.0 §9). If ``Configuration`` has both this
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

        /// The signature algorithm of assertions; `nil` if the client sends the secret itself.
        let algorithm: JWK.Algorithm?

        private init(method: Method, secret: String, algorithm: JWK.Algorithm? = nil) {
            self.method = method
            self.secret = secret
            self.algorithm = algorithm
        }

        /// Returns the method that sends the secret in the `Authorization` header.
        public static func clientSecretBasic(_ secret: String) -> Self {
            Self(method: .clientSecretBasic, secret: secret)
        }

        /// Returns the method that sends the secret in the request body.
        public static func clientSecretPost(_ secret: String) -> Self {
            Self(method: .clientSecretPost, secret: secret)
        }

        /// Returns the method that sends an assertion signed with the secret (RFC 7523 §2.2).
        /// - Parameters:
        ///   - secret: The secret: at least 32 bytes for HS256, 48 for HS384, 64 for HS512.
        ///   - algorithm: HS256, HS384 or HS512.
        public static func clientSecretJWT(_ secret: String, algorithm: JWK.Algorithm = .hs256) -> Self {
            Self(method: .clientSecretJWT, secret: secret, algorithm: algorithm)
        }

        /// Returns the method that sends an assertion signed with a private key (RFC 7523 §2.2).
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

/// The parameters and headers that authenticate the client, in addition to the configuration's own parameters.
struct ClientProof {
    var parameters: [String: any APIRequestArgument] = [:]
    var headers: [String: String] = [:]
    /// The names of parameters that must not be sent together with this proof.
    var replaced: Set<String> = []

    /// Creates the authentication for a request.
    /// - Parameters:
    ///   - endpoint: The URL of the request, which becomes the audience of an assertion.
    ///   - now: The server's time.
    /// - Throws: ``ClientKeyError`` if the secret or the key cannot sign the assertion.
    init(configuration: OAuth2Client.Configuration, endpoint: URL, now: Date, randomness: Randomness) throws {
        guard let authentication = configuration.confidentialAuthentication else { return }
        replaced = ["client_secret"]
        switch authentication.method {
        case .clientSecretPost:
            parameters["client_secret"] = authentication.secret
        case .clientSecretBasic:
            let pair = FormEncoding.body([(configuration.clientId, authentication.secret)]).replacing("=", with: ":")
            headers["Authorization"] = "Basic \(Data(pair.utf8).base64EncodedString())"
            replaced.insert("client_id")
        case .clientSecretJWT, .privateKeyJWT:
            parameters["client_assertion_type"] = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            parameters["client_assertion"] = try Self.assertion(
                authentication, clientId: configuration.clientId, audience: endpoint, now: now, name: randomness.identifier)
        }
    }

    /// Returns an assertion that is valid for five minutes: long enough for the request, and of little use if it leaks.
    private static func assertion(
        _ authentication: OAuth2Client.ConfidentialAuthentication, clientId: String, audience: URL, now: Date, name: String
    ) throws -> String {
        let issuedAt = now.numericDate
        let claims: JSONValue = [
            "iss": .string(clientId), "sub": .string(clientId), "aud": .string(audience.absoluteString), "jti": .string(name),
            "iat": .integer(issuedAt), "exp": .integer(issuedAt + 300),
        ]
        do {
            guard let name = authentication.algorithm?.rawValue, let algorithm = JWSAlgorithm(rawValue: name) else {
                throw ClientKeyError(method: authentication.method)
            }
            let key =
                authentication.method == .clientSecretJWT
                ? try SigningKey.secret(Array(authentication.secret.utf8), algorithm: algorithm)
                : try SigningKey(JSONWebKey(parsing: Array(authentication.secret.utf8)), algorithm: algorithm)
            return try key.sign(claims)
        } catch {
            throw ClientKeyError(method: authentication.method)
        }
    }
}

/// Reports that the client's secret or private key cannot sign the assertion that the configuration requires.
public struct ClientKeyError: Error, LocalizedError, CustomDebugStringConvertible, ClientError, Equatable, Sendable {
    /// The client authentication method.
    public let method: OAuth2Client.ConfidentialAuthentication.Method

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText { .appSetup }

    /// The reason and a remedy, for developers.
    public var debugDescription: String {
        switch method {
        case .privateKeyJWT:
            "The client's private key can't be used. Give it as a JSON Web Key with its private members, and an algorithm that fits it."
        default:
            "The client's secret can't be used to make an assertion. It must have at least 32 bytes for HS256, 48 for HS384, 64 for HS512."
        }
    }
}
