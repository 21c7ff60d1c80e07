public import Foundation
import JOSE

/// The parameters and headers that authenticate the client, in addition to those of the configuration.
struct ClientProof {
    var parameters: [String: any APIRequestArgument] = [:]
    var headers: [String: String] = [:]
    /// Parameters that must not be sent together with this proof.
    var replaced: Set<String> = []

    /// Creates the authentication for a request to `endpoint`, which is the audience of an assertion. `now` must be the server's time.
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

/// The client's secret or private key cannot sign the assertion that the configuration requires.
public struct ClientKeyError: Error, LocalizedError, Equatable, Sendable {
    /// The client authentication method.
    public let method: OAuth2Client.ConfidentialAuthentication.Method

    /// A description of the error and a remedy.
    public var errorDescription: String? {
        switch method {
        case .privateKeyJWT:
            "The client's private key can't be used. Give it as a JSON Web Key with its private members, and an algorithm that fits it."
        default:
            "The client's secret can't be used to make an assertion. It must have at least 32 bytes for HS256, 48 for HS384, 64 for HS512."
        }
    }
}
