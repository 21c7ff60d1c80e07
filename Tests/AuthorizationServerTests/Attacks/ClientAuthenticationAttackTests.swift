import Foundation
import JOSE
import TestSupport
import Testing

/// Requests that authenticate as a client by an unregistered method.
@Suite("Attacks: client authentication")
struct ClientAuthenticationAttackTests {
    private static let base = "/oauth2/default/v1"

    /// Sends credentials to an endpoint, in the `Authorization` header or in the body.
    private static func call(
        _ endpoint: String, _ id: String, _ secret: String, inHeader: Bool, _ server: PushServer
    ) async throws -> WireResponse {
        var form = [
            "grant_type": "password", "username": PushOrganization.jane, "password": PushOrganization.janesPassword, "token": "x",
            "response_type": "code",
        ]
        var headers: [(String, String)] = []
        if inHeader {
            headers = [("Authorization", "Basic " + Data("\(id):\(secret)".utf8).base64EncodedString())]
        } else {
            (form["client_id"], form["client_secret"]) = (id, secret)
        }
        return try await server.wire.post("\(base)/\(endpoint)", Form.encode(form), headers: headers)
    }

    @Test(
        "A correct client secret that is sent by an unregistered method is rejected with the same response as a wrong secret",
        arguments: ["token", "introspect", "revoke", "par", "device/authorize", "bc/authorize"])
    func otherMethod(endpoint: String) async throws {
        let server = try await PushServer.refusing().server
        for (id, secret, isBasic) in [("desk", "help-desk-secret-0123", true), ("back-end", "back-end-secret-01234", false)] {
            let other = try await Self.call(endpoint, id, secret, inHeader: !isBasic, server)
            let wrong = try await Self.call(endpoint, id, "a-wrong-secret-0123", inHeader: !isBasic, server)
            #expect(other.status == 401 && other.body.contains("invalid_client"), "\(id) at \(endpoint): \(other.body)")
            #expect(other.body == wrong.body)
            let registered = try await Self.call(endpoint, id, secret, inHeader: isBasic, server)
            #expect(!registered.body.contains("invalid_client"), "\(id) at \(endpoint): \(registered.body)")
        }
    }

    // MARK: - Assertions

    private static func assertion(
        _ running: RunningServer, client: String = "key-app", audience: JSONValue, id: String? = UUID().uuidString
    ) throws -> String {
        let now = Int64(running.clock.now.timeIntervalSince1970)
        var claims: JSONValue = [
            "iss": .string(client), "sub": .string(client), "aud": audience, "exp": .integer(now + 300), "iat": .integer(now),
        ]
        claims["jti"] = id.map(JSONValue.string)
        return try TestKeys.client().sign(claims)
    }

    private static func use(_ assertion: String, _ running: RunningServer, at endpoint: String = "token") async throws -> WireResponse {
        let form = [
            "grant_type": "client_credentials", "scope": "messages.read", "token": "x",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "client_assertion": assertion,
        ]
        return try await running.wire.post("\(base)/\(endpoint)", Form.encode(form))
    }

    @Test("A client assertion with two audiences is rejected, even if one audience is this server")
    func foreignAudience() async throws {
        try await RunningServer.with { running in
            let issuer = RunningServer.origin + "/oauth2/default"
            let token = issuer + "/v1/token"
            for audience in [issuer, token] {
                #expect(try await Self.use(Self.assertion(running, audience: .string(audience)), running).status == 200)
                #expect(try await Self.use(Self.assertion(running, audience: [.string(audience)]), running).status == 200)
                for other in ["https://elsewhere.example.com", issuer, token, ""] {
                    for both in [[.string(audience), .string(other)], [.string(other), .string(audience)]] as [JSONValue] {
                        let refused = try await Self.use(Self.assertion(running, audience: both), running)
                        #expect(refused.status == 401, "\(both)")
                        #expect(try refused.json["error"] == "invalid_client")
                    }
                }
            }
        }
    }

    @Test("With strict_audience and require_jti, a client assertion needs a jti and the issuer as its only audience, and is accepted once")
    func strictAssertions() async throws {
        try await RunningServer.with { running in
            let issuer = RunningServer.origin + "/oauth2/default"
            let cases: [(JSONValue, String?, Int)] = [
                (.string(issuer), "once", 200), (.string(issuer), "once", 401), ([.string(issuer)], "array", 200),
                (.string(issuer), nil, 401), (.string(issuer + "/v1/token"), "token", 401), (.string(issuer + "/"), "slash", 401),
                (.string(RunningServer.origin), "organization", 401), ([.string(issuer), .string(issuer + "/v1/token")], "both", 401),
            ]
            for (audience, id, status) in cases {
                let assertion = try Self.assertion(running, client: "strict-key-app", audience: audience, id: id)
                #expect(try await Self.use(assertion, running).status == status, "\(audience) \(id ?? "no jti")")
            }
        }
    }

    @Test("A client assertion whose audience is an endpoint is accepted at that endpoint, and rejected at other endpoints and servers")
    func otherEndpoint() async throws {
        try await RunningServer.with { running in
            let base = RunningServer.origin + Self.base
            let called = try Self.assertion(running, audience: .string(base + "/introspect"))
            #expect(try await Self.use(called, running, at: "introspect").status == 200)
            for audience in [base + "/introspect", RunningServer.origin, RunningServer.origin + "/oauth2/closed", base, base + "/token/"] {
                #expect(try await Self.use(Self.assertion(running, audience: .string(audience)), running).status == 401, "\(audience)")
            }
        }
    }
}
