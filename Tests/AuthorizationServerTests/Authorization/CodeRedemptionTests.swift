import Foundation
import JOSE
import TestSupport
import Testing

@Suite("Authorization code exchange")
struct CodeRedemptionTests {
    /// Signs in with a new browser, and returns a code for an app.
    private static func code(_ server: PushServer, _ app: WireRelyingParty, _ changes: [String: String] = [:]) async throws -> String {
        let browser = WireBrowser(server.wire)
        return try app.code(try await browser.signIn(try await app.begin(browser, changes)))
    }

    @Test("A reused authorization code is rejected, and the access and refresh tokens of its first use are revoked")
    func replay() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.readingApp
            let code = try await Self.code(server, app, ["scope": "openid offline_access"])
            let tokens = try await app.exchange(code, server.wire).json
            let accessToken = try #require(tokens["access_token"]?.stringValue)
            let bearer = [("Authorization", "Bearer \(accessToken)")]
            #expect(try await server.wire.get("\(app.base)/userinfo", headers: bearer).status == 200)
            try expectRefusal(try await app.exchange(code, server.wire), 400, "invalid_grant")
            #expect(try await server.wire.get("\(app.base)/userinfo", headers: bearer).status == 401)
            let refresh = try await server.wire.post(
                "\(app.base)/token",
                Form.encode([
                    "client_id": app.id, "grant_type": "refresh_token", "refresh_token": try #require(tokens["refresh_token"]?.stringValue),
                ]))
            try expectRefusal(refresh, 400, "invalid_grant")
        }
    }

    @Test("Of several concurrent exchanges of one authorization code, exactly one succeeds, and the access token that it issued is revoked")
    func race() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.readingApp
            let code = try await Self.code(server, app)
            let answers = try await withThrowingTaskGroup(of: WireResponse.self) { group in
                for _ in 0..<4 { group.addTask { try await app.exchange(code, server.wire) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let given = answers.filter { $0.status == 200 }
            #expect(given.count == 1)
            let accessToken = try #require(try given.first?.json["access_token"]?.stringValue)
            let userInfo = try await server.wire.get("\(app.base)/userinfo", headers: [("Authorization", "Bearer \(accessToken)")])
            #expect(userInfo.status == 401)
        }
    }

    @Test(
        "A code exchange with a wrong client, redirect URI, verifier or server is rejected and does not consume the authorization code",
        arguments: [
            ["redirect_uri": "https://reading.example.com/callback"], ["redirect_uri": ""], ["code_verifier": ""],
            ["code_verifier": "another-verifier-of-forty-three-characters-0123"], ["code_verifier": WireRelyingParty.challenge],
            ["code_verifier": "short"], ["client_id": "browser-app"], ["code": "ac_unknown"],
        ])
    func bound(changes: [String: String]) async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.readingApp
            let code = try await Self.code(server, app)
            try expectRefusal(try await app.exchange(code, server.wire, changes), 400, "invalid_grant")
            var elsewhere = app
            elsewhere.base = "/oauth2/v1"
            try expectRefusal(try await elsewhere.exchange(code, server.wire), 400, "invalid_grant")
            #expect(try await app.exchange(code, server.wire).status == 200)
        }
    }

    @Test("An authorization code expires after five minutes", arguments: [(299.0, 200), (300, 400)])
    func expiry(seconds: TimeInterval, status: Int) async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.readingApp
            let code = try await Self.code(server, app)
            server.clock.advance(by: seconds)
            #expect(try await app.exchange(code, server.wire).status == status)
        }
    }

    @Test("A code_verifier is rejected for an authorization code without a code_challenge, and the code is not consumed")
    func downgrade() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.legacyApp
            let code = try await Self.code(server, app, ["code_challenge": "", "code_challenge_method": ""])
            try expectRefusal(try await app.exchange(code, server.wire), 400, "invalid_grant")
            #expect(try await app.exchange(code, server.wire, ["code_verifier": ""]).status == 200)
        }
    }

    @Test("A code exchange is rejected if the authentication of a confidential client is wrong or missing, or if the code is missing")
    func client() async throws {
        try await PushServer.with { server in
            var app = WireRelyingParty.webApp
            let code = try await Self.code(server, app)
            app.secret = "another-secret-012345"
            try expectRefusal(try await app.exchange(code, server.wire), 401, "invalid_client")
            app.secret = nil
            try expectRefusal(try await app.exchange(code, server.wire), 401, "invalid_client")
            try expectRefusal(try await WireRelyingParty.readingApp.exchange("", server.wire), 400, "invalid_request")
        }
    }
}
