import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("JWT bearer assertions of trusted issuers")
struct UserAssertionTests {
    private static let key = Result { try SigningKey.generate(.es256, keyID: "partner-1") }
    private static let otherKey = Result { try SigningKey.generate(.es256, keyID: "partner-1") }
    private static let issuer = "https://partner.example.com"

    private static func with(
        clients: [String]? = nil, _ body: @Sendable (PushServer) async throws -> Void
    ) async throws {
        let key = try #require(try key.get().publicKey)
        let trusted = TrustedIssuer(issuer: issuer, keys: JSONWebKeySet([key]), clients: clients)
        try await PushServer.with(PushOrganization(trustedIssuers: [trusted]), body)
    }

    /// Signs an assertion. A value of `nil` removes the claim.
    private static func assertion(
        _ server: PushServer, _ changes: [String: JSONValue?] = [:], by key: SigningKey? = nil
    ) throws -> String {
        let now = Int64(server.clock.now.timeIntervalSince1970)
        var claims: [String: JSONValue] = [
            "iss": .string(issuer), "sub": .string(PushOrganization.jane), "aud": "https://id.example.com/oauth2/default",
            "iat": .integer(now), "exp": .integer(now + 300), "jti": .string(UUID().uuidString),
        ]
        for (name, value) in changes { claims[name] = value }
        return try (key ?? Self.key.get()).sign(.object(claims))
    }

    private static func exchange(
        _ assertion: String, _ server: PushServer, client: String = "assertion-app", base: String = "/oauth2/default/v1",
        scope: String = "openid offline_access"
    ) async throws -> WireResponse {
        let form = ["client_id": client, "grant_type": PushOrganization.jwtBearer, "assertion": assertion, "scope": scope]
        return try await server.wire.post("\(base)/token", Form.encode(form))
    }

    @Test("A trusted issuer's valid assertion signs its subject in once, and a reused assertion is rejected")
    func once() async throws {
        try await Self.with { server in
            let assertion = try Self.assertion(server)
            let tokens = try await IssuedTokens(
                try await Self.exchange(assertion, server), keysFrom: "/oauth2/default/v1", server.wire)
            #expect(tokens.accessToken["sub"] == .string(PushOrganization.jane))
            #expect(tokens.idToken["amr"] == ["fed"])
            #expect(tokens.body["refresh_token"]?.stringValue != nil)
            try expectRefusal(try await Self.exchange(assertion, server), 400, "invalid_grant")
            let atTokenEndpoint = try Self.assertion(server, ["aud": "https://id.example.com/oauth2/default/v1/token"])
            #expect(try await Self.exchange(atTokenEndpoint, server).status == 200)
        }
    }

    @Test("Of several concurrent requests with one assertion of a trusted issuer, exactly one gets tokens")
    func race() async throws {
        try await Self.with { server in
            let assertion = try Self.assertion(server)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<6 { group.addTask { try await Self.exchange(assertion, server).status } }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200] + Array(repeating: 400, count: 5))
        }
    }

    @Test("A trusted issuer's assertion with an invalid claim, signature or format is rejected with invalid_grant")
    func refused() async throws {
        try await Self.with { server in
            let now = Int64(server.clock.now.timeIntervalSince1970)
            let changes: [[String: JSONValue?]] = [
                ["iss": "https://stranger.example.com"], ["iss": .some(nil)], ["sub": "unknown@example.com"], ["sub": .some(nil)],
                ["sub": "suspended@example.com"], ["aud": "https://id.example.com"], ["aud": .some(nil)],
                ["aud": "https://id.example.com/oauth2/closed"],
                ["aud": ["https://id.example.com/oauth2/default", "https://elsewhere.example.com"]], ["exp": .integer(now)],
                ["exp": .some(nil)],
                ["exp": .integer(now + 3_601)], ["iat": .integer(now + 120)], ["nbf": .integer(now + 120)],
            ]
            for change in changes {
                try expectRefusal(try await Self.exchange(try Self.assertion(server, change), server), 400, "invalid_grant")
            }
            let forged = try Self.assertion(server, by: try Self.otherKey.get())
            try expectRefusal(try await Self.exchange(forged, server), 400, "invalid_grant")
            try expectRefusal(try await Self.exchange("no assertion", server), 400, "invalid_grant")
            try expectRefusal(try await Self.exchange("", server), 400, "invalid_request")
            // The other authorization servers have no trusted issuer.
            let good = try Self.assertion(server)
            try expectRefusal(try await Self.exchange(good, server, base: "/oauth2/closed/v1"), 400, "invalid_grant")
            try expectRefusal(try await Self.exchange(good, server, base: "/oauth2/v1"), 400, "invalid_grant")
            #expect(try await Self.exchange(good, server).status == 200)
        }
    }

    @Test(
        "A trusted issuer's assertion is rejected if the sign-on policy, client grants, scopes or issuer's client list do not allow the request"
    )
    func policies() async throws {
        try await Self.with { server in
            try expectRefusal(
                try await Self.exchange(try Self.assertion(server), server, client: "strict-assertion-app", scope: "openid"), 400,
                "access_denied")
            try expectRefusal(
                try await Self.exchange(try Self.assertion(server), server, client: "reading-app"), 400, "unauthorized_client")
            try expectRefusal(try await Self.exchange(try Self.assertion(server), server, scope: ""), 400, "invalid_scope")
        }
        try await Self.with(clients: ["strict-assertion-app"]) { server in
            try expectRefusal(try await Self.exchange(try Self.assertion(server), server), 400, "invalid_grant")
        }
    }

    @Test("Discovery lists the JWT bearer grant only for authorization servers with a trusted issuer")
    func discovery() async throws {
        try await Self.with { server in
            let document = try await server.wire.get("/oauth2/default/.well-known/openid-configuration").json
            #expect(document["grant_types_supported"]?.stringArrayValue?.contains(PushOrganization.jwtBearer) == true)
            let other = try await server.wire.get("/oauth2/closed/.well-known/openid-configuration").json
            #expect(other["grant_types_supported"]?.stringArrayValue?.contains(PushOrganization.jwtBearer) == false)
        }
    }
}
