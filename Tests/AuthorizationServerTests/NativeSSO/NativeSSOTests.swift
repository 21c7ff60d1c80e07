import Crypto
import Foundation
import JOSE
import TestSupport
import Testing

/// Two apps on one device that send raw requests (Documentation/Protocol/OAuth.md §2.4.7).
struct WireApps: Sendable {
    static let idTokenType = "urn:ietf:params:oauth:token-type:id_token"
    static let secretType = "urn:x-oath:params:oauth:token-type:device-secret"

    let wire: WireClient
    var base = "/oauth2/default/v1"

    func token(_ form: [String: String]) async throws -> WireResponse {
        try await wire.post("\(base)/token", Form.encode(form.filter { !$0.value.isEmpty }))
    }

    /// Signs Jane in to the first app.
    func signIn(_ scope: String = "openid offline_access device_sso", client: String = "sso-app") async throws -> WireResponse {
        try await token([
            "client_id": client, "grant_type": "password", "username": PushOrganization.jane,
            "password": PushOrganization.janesPassword, "scope": scope,
        ])
    }

    /// Signs Jane in and returns the ID token and the device secret that the first app shares.
    func shared() async throws -> (idToken: String, secret: String, tokens: IssuedTokens) {
        let tokens = try await IssuedTokens(try await signIn(), keysFrom: base, wire)
        return (
            try #require(tokens.body["id_token"]?.stringValue), try #require(tokens.body["device_secret"]?.stringValue), tokens
        )
    }

    func exchange(_ idToken: String, _ secret: String, _ changes: [String: String] = [:]) async throws -> WireResponse {
        try await token(
            [
                "client_id": "second-sso-app", "grant_type": PushOrganization.tokenExchange, "subject_token": idToken,
                "subject_token_type": Self.idTokenType, "actor_token": secret, "actor_token_type": Self.secretType,
                "audience": "api://default", "scope": "openid offline_access",
            ].merging(changes) { $1 })
    }

    func refresh(_ token: String, _ client: String) async throws -> WireResponse {
        try await self.token(["client_id": client, "grant_type": "refresh_token", "refresh_token": token])
    }

    func introspect(_ token: String, _ client: String) async throws -> JSONValue {
        try await wire.post("\(base)/introspect", Form.encode(["client_id": client, "token": token])).json
    }
}

@Suite("Native SSO")
struct NativeSSOTests {
    @Test("A second app exchanges the first app's ID token and device secret for tokens of the same session")
    func exchange() async throws {
        try await PushServer.with { server in
            let apps = WireApps(wire: server.wire)
            let (idToken, secret, first) = try await apps.shared()
            let sid = try #require(first.idToken["sid"]?.stringValue)
            let hash = Base64URL.encode(Array(SHA256.hash(data: Array(secret.utf8)).prefix(16)))
            #expect(first.idToken["ds_hash"] == .string(hash))
            #expect(first.accessToken["scp"] == ["openid", "offline_access", "device_sso"])
            server.clock.advance(by: 100)
            let second = try await IssuedTokens(try await apps.exchange(idToken, secret), keysFrom: apps.base, server.wire)
            #expect(second.body["issued_token_type"] == "urn:ietf:params:oauth:token-type:access_token")
            #expect(second.body["token_type"] == "Bearer")
            #expect(second.body["device_secret"] == nil)
            #expect(second.idToken["aud"] == "second-sso-app")
            #expect(second.idToken["sid"] == .string(sid))
            // Authentication time and methods are those of the first app's sign-in.
            #expect(second.idToken["auth_time"] == first.idToken["auth_time"])
            #expect(second.idToken["amr"] == ["pwd"])
            let refresh = try #require(second.body["refresh_token"]?.stringValue)
            let refreshed = try await apps.refresh(refresh, "second-sso-app")
            #expect(refreshed.status == 200)
            // An ID token from a refresh is also accepted.
            let mine = try #require(first.body["refresh_token"]?.stringValue)
            let renewed = try await apps.refresh(mine, "sso-app").json
            #expect(renewed["device_secret"] == nil)
            #expect(try await apps.exchange(try #require(renewed["id_token"]?.stringValue), secret).status == 200)
        }
    }

    @Test("A native SSO exchange accepts an expired ID token and the IETF token type, and returns the same device secret for device_sso")
    func lenient() async throws {
        try await PushServer.with { server in
            let apps = WireApps(wire: server.wire)
            let (idToken, secret, _) = try await apps.shared()
            server.clock.advance(by: 10_000)
            let answer = try await apps.exchange(
                idToken, secret,
                [
                    "actor_token_type": "urn:ietf:params:oauth:token-type:device-secret", "audience": "",
                    "requested_token_type": "urn:ietf:params:oauth:token-type:access_token",
                    "scope": "openid offline_access device_sso",
                ])
            #expect(answer.status == 200)
            #expect(try answer.json["device_secret"] == .string(secret))
        }
    }

    @Test("The second app's sign-on policy, assignment and grant types apply to a native SSO exchange")
    func policies() async throws {
        try await PushServer.with { server in
            let apps = WireApps(wire: server.wire)
            let (idToken, secret, _) = try await apps.shared()
            try expectRefusal(try await apps.exchange(idToken, secret, ["client_id": "strict-sso-app"]), 400, "access_denied")
            try expectRefusal(
                try await apps.exchange(idToken, secret, ["client_id": "staff-sso-app", "scope": "openid"]), 400, "access_denied")
            try expectRefusal(try await apps.exchange(idToken, secret, ["client_id": "reading-app"]), 400, "unauthorized_client")
            let recent = ["client_id": "recent-sso-app", "scope": "openid"]
            #expect(try await apps.exchange(idToken, secret, recent).status == 200)
            server.clock.advance(by: 600)
            try expectRefusal(try await apps.exchange(idToken, secret, recent), 400, "access_denied")
            #expect(try await apps.exchange(idToken, secret).status == 200)
        }
    }

    @Test("A native SSO exchange with mismatched, forged or wrong tokens is rejected, and the valid token pair is still accepted")
    func mixed() async throws {
        try await PushServer.with { server in
            let apps = WireApps(wire: server.wire)
            let (idToken, secret, first) = try await apps.shared()
            let (otherToken, otherSecret, _) = try await apps.shared()
            let plain = try await apps.signIn("openid offline_access").json
            let refused: [(String, String)] = [
                (otherToken, secret), (idToken, otherSecret), (idToken, secret + "x"), (idToken, "ds_"),
                (try #require(plain["id_token"]?.stringValue), secret),
                (try #require(first.body["access_token"]?.stringValue), secret),
                (String(idToken.dropLast(8)) + "AAAAAAAA", secret), ("x", secret),
                (idToken, try #require(first.body["refresh_token"]?.stringValue)),
            ]
            for (token, secret) in refused { try expectRefusal(try await apps.exchange(token, secret), 400, "invalid_grant") }
            var org = apps
            org.base = "/oauth2/v1"
            try expectRefusal(try await org.exchange(idToken, secret, ["audience": ""]), 400, "invalid_grant")
            #expect(try await apps.exchange(idToken, secret).status == 200)
        }
    }

    @Test(
        "A native SSO exchange with a missing or unsupported parameter is rejected with invalid_request or invalid_scope",
        arguments: [
            (["subject_token": ""], "invalid_request"), (["actor_token": ""], "invalid_request"),
            (["subject_token_type": ""], "invalid_request"), (["actor_token_type": ""], "invalid_request"),
            (["subject_token_type": "urn:ietf:params:oauth:token-type:access_token"], "invalid_request"),
            (["actor_token_type": "urn:ietf:params:oauth:token-type:access_token"], "invalid_request"),
            (["requested_token_type": "urn:ietf:params:oauth:token-type:refresh_token"], "invalid_request"),
            (["audience": "api://other"], "invalid_request"), (["resource": "https://api.example.com"], "invalid_request"),
            (["scope": "openid nothing"], "invalid_scope"), (["scope": ""], "invalid_scope"),
            (["scope": "openid device_sso"], "invalid_scope"),
        ])
    func refused(changes: [String: String], error: String) async throws {
        try await PushServer.with { server in
            let apps = WireApps(wire: server.wire)
            let (idToken, secret, _) = try await apps.shared()
            try expectRefusal(try await apps.exchange(idToken, secret, changes), 400, error)
        }
    }

    @Test("The scope device_sso requires openid, offline_access, the exchange grant and a custom authorization server")
    func scope() async throws {
        try await PushServer.with { server in
            var apps = WireApps(wire: server.wire)
            for scope in ["openid device_sso", "offline_access device_sso", "device_sso"] {
                try expectRefusal(try await apps.signIn(scope), 400, "invalid_scope")
            }
            try expectRefusal(try await apps.signIn(client: "easy-app"), 400, "invalid_scope")
            apps.base = "/oauth2/v1"
            try expectRefusal(try await apps.signIn(), 400, "invalid_scope")
        }
    }

    @Test(
        "Either of two apps that share a sign-in can revoke the device secret, which revokes both apps' tokens and no unrelated grant",
        arguments: ["sso-app", "second-sso-app"])
    func revocation(client: String) async throws {
        try await PushServer.with { server in
            let apps = WireApps(wire: server.wire)
            let (idToken, secret, first) = try await apps.shared()
            let second = try await apps.exchange(idToken, secret).json
            let unrelated = try await apps.signIn("openid offline_access").json
            let sid = try #require(first.idToken["sid"])
            let known = try await apps.introspect(secret, client)
            #expect(known["active"] == true)
            #expect(known["sid"] == sid)
            #expect(known["token_type"] == .string(WireApps.secretType))
            #expect(known["exp"]?.intValue != nil)
            #expect(try await apps.introspect(secret, "easy-app") == ["active": false])
            // A revocation by an unrelated app returns 200 and has no effect.
            let body = { (client: String) in Form.encode(["client_id": client, "token": secret, "token_type_hint": "device_secret"]) }
            #expect(try await server.wire.post("\(apps.base)/revoke", body("easy-app")).status == 200)
            #expect(try await apps.introspect(secret, client)["active"] == true)

            #expect(try await server.wire.post("\(apps.base)/revoke", body(client)).status == 200)
            #expect(try await server.wire.post("\(apps.base)/revoke", body(client)).status == 200)
            #expect(try await apps.introspect(secret, client) == ["active": false])
            try expectRefusal(try await apps.exchange(idToken, secret), 400, "invalid_grant")
            let mine = try #require(first.body["refresh_token"]?.stringValue)
            try expectRefusal(try await apps.refresh(mine, "sso-app"), 400, "invalid_grant")
            try expectRefusal(
                try await apps.refresh(try #require(second["refresh_token"]?.stringValue), "second-sso-app"), 400, "invalid_grant")
            #expect(
                try await apps.introspect(try #require(second["access_token"]?.stringValue), "second-sso-app") == ["active": false])
            #expect(try await apps.refresh(try #require(unrelated["refresh_token"]?.stringValue), "sso-app").status == 200)
            #expect(try await server.logged("token.revoke.device_secret") == 1)
        }
    }

    @Test("Logout with a device secret, or revocation of the first app's refresh token, revokes the device secret")
    func ends() async throws {
        try await PushServer.with { server in
            let apps = WireApps(wire: server.wire)
            let (idToken, secret, _) = try await apps.shared()
            let (otherToken, otherSecret, other) = try await apps.shared()
            let mixed = try await server.wire.get(LogoutTests.url(["id_token_hint": otherToken, "device_secret": secret]))
            #expect(mixed.status == 400)
            #expect(try await apps.exchange(idToken, secret).status == 200)
            let answer = try await server.wire.get(
                LogoutTests.url([
                    "id_token_hint": idToken, "device_secret": secret, "post_logout_redirect_uri": "com.example.sso:/bye", "state": "s",
                ]))
            #expect(answer["Location"] == "com.example.sso:/bye?state=s")
            try expectRefusal(try await apps.exchange(idToken, secret), 400, "invalid_grant")
            #expect(try await apps.exchange(otherToken, otherSecret).status == 200)
            let refresh = try #require(other.body["refresh_token"]?.stringValue)
            #expect(
                try await server.wire.post("\(apps.base)/revoke", Form.encode(["client_id": "sso-app", "token": refresh])).status == 200)
            try expectRefusal(try await apps.exchange(otherToken, otherSecret), 400, "invalid_grant")
        }
    }

    @Test("A sign-in in the browser also issues a device secret, which stays valid after browser logout")
    func browser() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty(id: "sso-app", redirectURI: "com.example.sso:/callback")
            let browser = WireBrowser(server.wire)
            let page = try await app.begin(browser, ["scope": "openid offline_access device_sso"])
            let code = try app.code(try await browser.signIn(page))
            let tokens = try await app.exchange(code, server.wire).json
            let apps = WireApps(wire: server.wire)
            let (idToken, secret) = (
                try #require(tokens["id_token"]?.stringValue), try #require(tokens["device_secret"]?.stringValue)
            )
            #expect(try await apps.exchange(idToken, secret).status == 200)
            // Logout in the browser does not affect the apps on the device.
            #expect(try await browser.get(LogoutTests.url(["id_token_hint": idToken])).status == 200)
            #expect(try await apps.exchange(idToken, secret).status == 200)
        }
    }
}
