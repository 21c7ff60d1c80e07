public import Foundation
import JOSE

/// What a client adds to a request to prove who it is, beyond what its configuration tells for every request.
struct ClientProof {
    var parameters: [String: any APIRequestArgument] = [:]
    var headers: [String: String] = [:]
    /// Parameters that must not be sent beside this proof.
    var replaced: Set<String> = []

    /// - Parameters:
    ///   - configuration: The client's.
    ///   - endpoint: Where the request goes: the audience of an assertion.
    ///   - now: The time by the server's clock.
    ///   - randomness: For the assertion's name, which makes it good for one use.
    /// - Throws: ``ClientKeyError`` if the secret or the key can't make the assertion.
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

    /// Five minutes are long enough for a request and short for whoever finds the assertion.
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

/// The client's secret or private key can't make the assertion that the configuration asks for.
public struct ClientKeyError: Error, LocalizedError, Equatable, Sendable {
    /// The method of client authentication.
    public let method: OAuth2Client.ConfidentialAuthentication.Method

    /// What happened, and what to do next.
    public var errorDescription: String? {
        switch method {
        case .privateKeyJWT:
            "The client's private key can't be used. Give it as a JSON Web Key with its private members, and an algorithm that fits it."
        default:
            "The client's secret can't be used to make an assertion. It must have at least 32 bytes for HS256, 48 for HS384, 64 for HS512."
        }
    }
}
