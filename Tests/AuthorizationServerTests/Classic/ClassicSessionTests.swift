import IdentityCore
import JOSE
import TestSupport
import Testing

/// Documentation/Protocol/Authn.md §4.16 in raw requests.
@Suite("Session tokens of the classic API")
struct ClassicSessionTests {
    private static let organization = PushOrganization(
        classic: ClassicPolicy(signOnPolicy: "one factor", trustedOrigins: ["https://portal.example.com"]))

    private static func token(
        _ server: PushServer, _ login: String = PushOrganization.jane, _ password: String = PushOrganization.janesPassword
    ) async throws -> String {
        try #require(try ClassicStatus(try await ClassicClient(server).signIn(login, password)).json["sessionToken"]?.stringValue)
    }

    private static func create(_ server: PushServer, _ token: String, cookie: String? = nil) async throws -> WireResponse {
        try await server.wire.call(
            "POST", "/api/v1/sessions", headers: [("Content-Type", "application/json")] + (cookie.map { [("Cookie", $0)] } ?? []),
            body: (["sessionToken": .string(token)] as JSONValue).serialized())
    }

    @Test("The sessions endpoint consumes a session token and creates a session that signs the user in without a page")
    func api() async throws {
        try await PushServer.with(Self.organization) { server in
            let token = try await Self.token(server)
            let response = try await Self.create(server, token)
            try #require(response.status == 200, "\(response.body)")
            let json = try response.json
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            #expect(
                json == [
                    "id": json["id"] ?? .null, "userId": .string(id), "login": "jane.doe@example.com", "status": "ACTIVE",
                    "createdAt": "2027-01-15T08:00:00.000Z", "expiresAt": "2027-01-15T10:00:00.000Z",
                    "lastPasswordVerification": "2027-01-15T08:00:00.000Z", "amr": ["pwd"], "mfaActive": false,
                ])
            let cookie = try #require(response["Set-Cookie"])
            let secret = try #require(cookie.firstMatch(of: /^__Host-session=([^;]+); Path=\/; HttpOnly; SameSite=Lax; Secure$/)?.1)
            #expect(!response.body.contains(secret))
            let browser = WireBrowser(server.wire)
            browser.cookies["session"] = String(secret)
            let party = WireRelyingParty.readingApp
            _ = try party.code(try await browser.get(party.authorizeURL(["prompt": "none"])))
            try expectClassicRefusal(try await Self.create(server, token), 401, "E0000011")
            try expectClassicRefusal(try await Self.create(server, "unknown"), 401, "E0000011")
            try expectClassicRefusal(try await Self.create(server, ""), 400, "E0000001", causes: 1)
        }
    }

    @Test("A session token is rejected after it expires, or if the browser has another user's session")
    func refused() async throws {
        try await PushServer.with(Self.organization) { server in
            let janes = try #require(try await Self.create(server, Self.token(server))["Set-Cookie"]?.split(separator: ";").first)
            let johns = try await Self.token(server, PushOrganization.john, PushOrganization.johnsPassword)
            try expectClassicRefusal(try await Self.create(server, johns, cookie: String(janes)), 403, "E0000006")
            // The rejection does not consume the token. Another token of Jane's continues her session with a new secret.
            #expect(try await Self.create(server, johns).status == 200)
            let again = try await Self.create(server, Self.token(server), cookie: String(janes))
            #expect(again.status == 200)
            #expect(again["Set-Cookie"]?.hasPrefix(janes) == false)
            let jane = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            #expect(try await server.engine.sessions(ofUser: jane, now: server.clock.now).count == 1)
            let late = try await Self.token(server)
            server.clock.advance(by: 300)
            try expectClassicRefusal(try await Self.create(server, late), 401, "E0000011")
        }
    }

    @Test("The session cookie redirect consumes a session token and redirects only to trusted origins")
    func redirect() async throws {
        try await PushServer.with(Self.organization) { server in
            func get(_ token: String, _ address: String, method: String = "GET") async throws -> WireResponse {
                try await server.wire.call(
                    method, "/login/sessionCookieRedirect?" + Form.encode(["token": token, "redirectUrl": address]))
            }
            let token = try await Self.token(server)
            for address in [
                "https://evil.example.com/", "https://portal.example.com.evil.example/", "https://portal.example.com@evil.example.com/",
                "//portal.example.com/", "/home", "http://portal.example.com/", "https://portal.example.com:8443/", "javascript:alert(1)",
                "https://portal.example.com\\@evil.example.com/", "https://portal.example.com/\r\nX: y",
            ] { try expectClassicRefusal(try await get(token, address), 400, "E0000001", causes: 1) }
            #expect(try await get(token, "https://portal.example.com/home", method: "HEAD").status == 200)
            let response = try await get(token, "https://portal.example.com/home?a=b#c")
            #expect(response.status == 302)
            #expect(response["Location"] == "https://portal.example.com/home?a=b#c")
            #expect(response["Set-Cookie"]?.hasPrefix("__Host-session=") == true)
            try expectClassicRefusal(try await get(token, "https://portal.example.com/home"), 401, "E0000011")
            #expect(try await get(try await Self.token(server), RunningServer.origin + "/home").status == 302)
        }
    }
}
