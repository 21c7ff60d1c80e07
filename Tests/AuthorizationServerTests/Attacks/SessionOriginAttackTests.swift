import IdentityCore
import JOSE
import Testing

/// An attacker who attempts login CSRF: a page of another site makes the victim's browser exchange the attacker's session token.
@Suite("Attacks: session tokens posted from other sites")
struct SessionOriginAttackTests {
    private static let organization = PushOrganization(
        classic: ClassicPolicy(signOnPolicy: "one factor", trustedOrigins: ["https://portal.example.com"]))

    private static func create(_ server: PushServer, _ headers: [(String, String)]) async throws -> WireResponse {
        let signedIn = try ClassicStatus(
            try await ClassicClient(server).signIn(PushOrganization.john, PushOrganization.johnsPassword))
        let token = try #require(signedIn.json["sessionToken"]?.stringValue)
        return try await server.wire.call(
            "POST", "/api/v1/sessions", headers: [("Content-Type", "application/json")] + headers,
            body: (["sessionToken": .string(token)] as JSONValue).serialized())
    }

    @Test(
        "A session token from a page of an untrusted origin starts no session",
        arguments: [
            "https://evil.example.com", "null", "http://id.example.com", "https://id.example.com:8443",
            "https://id.example.com.evil.example",
            "",
        ])
    func untrusted(origin: String) async throws {
        try await PushServer.with(Self.organization) { server in
            let response = try await Self.create(server, [("Origin", origin)])
            try expectClassicRefusal(response, 403, "E0000006")
            #expect(response["Set-Cookie"] == nil && response["Access-Control-Allow-Origin"] == nil)
        }
    }

    @Test("A session token from another origin's page starts no session if the browser sends Sec-Fetch-Site but no Origin")
    func fetchMetadata() async throws {
        try await PushServer.with(Self.organization) { server in
            for site in ["cross-site", "same-site"] {
                let response = try await Self.create(server, [("Sec-Fetch-Site", site)])
                try expectClassicRefusal(response, 403, "E0000006")
                #expect(response["Set-Cookie"] == nil)
            }
        }
    }

    @Test("A session token starts a session if it comes from the server's own origin, a trusted origin or a client that is not a browser")
    func trusted() async throws {
        try await PushServer.with(Self.organization) { server in
            let callers: [[(String, String)]] = [
                [("Origin", RunningServer.origin)], [("Origin", "https://portal.example.com")], [], [("Sec-Fetch-Site", "same-origin")],
            ]
            for headers in callers {
                let response = try await Self.create(server, headers)
                #expect(response.status == 200, "\(headers)")
            }
        }
    }
}
