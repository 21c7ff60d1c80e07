import Foundation
import JOSE
import TestSupport

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The signing keys of the tests' issuer, generated once.
enum IssuerKeys {
    static let rs256 = Result { try SigningKey.generate(.rs256, keyID: "rsa-1") }
    static let es256 = Result { try SigningKey.generate(.es256, keyID: "ec-1") }
    static let edDSA = Result { try SigningKey.generate(.edDSA, keyID: "ed-1") }
    static let stranger = Result { try SigningKey.generate(.rs256, keyID: "rsa-1") }
    static let rotated = Result { try SigningKey.generate(.rs256, keyID: "rsa-2") }

    static func set(_ keys: [SigningKey]) -> String {
        JSONValue.object(["keys": .array(keys.compactMap { $0.publicKey?.json() })]).serializedString
    }
}

/// An issuer with real keys behind a scripted session, and a client whose waits end at once.
struct IssuerFixture {
    let session = ScriptedIssuer(["id_token_signing_alg_values_supported": ["RS256"]])
    let clock = ManualClock(sleeps: .skipped)
    let client: OAuth2Client

    init(publishing keys: [SigningKey]? = nil) throws {
        client = OAuth2Client(try .fixture, session: session, clock: clock)
        let published = IssuerKeys.set(try keys ?? [IssuerKeys.rs256.get(), IssuerKeys.es256.get(), IssuerKeys.edDSA.get()])
        session.on("/v1/keys") { _, _ in .json(published) }
    }

    /// Returns the claims of a valid ID token with these changes. A change to `nil` removes a claim.
    func claims(_ changes: [String: JSONValue?] = [:]) -> JSONValue {
        let now = Int64(clock.now.timeIntervalSince1970)
        var claims: [String: JSONValue] = [
            "iss": .string(ScriptedIssuer.base), "aud": "app", "sub": "00u1", "iat": .integer(now), "exp": .integer(now + 3600),
            "auth_time": .integer(now - 5), "ver": 1,
        ]
        for (name, value) in changes { claims[name] = value }
        return .object(claims)
    }

    func idToken(_ changes: [String: JSONValue?] = [:], key: SigningKey? = nil) throws -> String {
        try (key ?? IssuerKeys.rs256.get()).sign(claims(changes))
    }

    func response(access: String = "access-1", refresh: String? = nil, idToken: String? = nil) -> ScriptedIssuer.Reply {
        let members = [("refresh_token", refresh), ("id_token", idToken)].compactMap { name, value in value.map { ",\"\(name)\":\"\($0)\"" }
        }
        return .json(#"{"token_type":"Bearer","access_token":"\#(access)","expires_in":3600\#(members.joined())}"#)
    }

    /// Signs in at a token endpoint with this response.
    func signIn(_ reply: ScriptedIssuer.Reply, nonce: String? = nil, maxAge: TimeInterval? = nil) async throws -> Token {
        session.on("/v1/token") { _, _ in reply }
        let request = PasswordRequest(
            openIdConfiguration: try await client.openIdConfiguration(), clientConfiguration: client.configuration,
            tokenValidatorContext: Expectations(nonce: nonce, maxAge: maxAge))
        return try await client.exchange(token: request).result
    }

    struct Expectations: IDTokenValidatorContext {
        var nonce: String?
        var maxAge: TimeInterval?
    }

    struct PasswordRequest: OAuth2TokenRequest {
        let openIdConfiguration: OpenIdConfiguration
        let clientConfiguration: OAuth2Client.Configuration
        let tokenValidatorContext: any IDTokenValidatorContext

        var bodyParameters: [String: any APIRequestArgument]? {
            var parameters = clientConfiguration.parameters(for: .token)
            parameters.merge(["grant_type": GrantType.password, "username": "jane", "password": "a b&c"])
            return parameters
        }
    }
}
