import JOSE
import TestSupport
import Testing

@Suite("Introspection and revocation")
struct TokenStateTests {
    private static let inactive: JSONValue = ["active": false]

    @Test("Introspection of an access token returns its documented members (Documentation/Protocol/OAuth.md §2.9)")
    func accessToken() async throws {
        try await RunningServer.with { running in
            let token = try #require(try await running.signIn()["access_token"]?.stringValue)
            let response = try await running.wire.post(
                "/oauth2/default/v1/introspect", "client_id=password-app&token=\(token)&token_type_hint=access_token")
            #expect(response.status == 200)
            #expect(response["Content-Type"] == "application/json")
            #expect(response["Cache-Control"] == "no-cache, no-store")
            let json = try response.json
            #expect(json["active"] == true)
            #expect(json["token_type"] == "Bearer")
            #expect(json["scope"] == "openid profile email offline_access")
            #expect(json["client_id"] == "password-app")
            #expect(json["username"] == "jane.doe@example.com")
            #expect(json["sub"] == "jane.doe@example.com")
            #expect(json["aud"] == "api://default")
            #expect(json["iss"] == .string(RunningServer.origin + "/oauth2/default"))
            #expect(json["iat"] == 1_800_000_000)
            #expect(json["nbf"] == 1_800_000_000)
            #expect(json["exp"] == 1_800_003_600)
            #expect(json["uid"]?.stringValue?.hasPrefix("00u") == true)
            #expect(json["jti"]?.stringValue?.hasPrefix("AT.") == true)
        }
    }

    @Test("Introspection reads the client ID from the body or the query, and rejects a request with two different client IDs")
    func clientID() async throws {
        try await RunningServer.with { running in
            let token = try #require(try await running.signIn()["refresh_token"]?.stringValue)
            let path = "/oauth2/default/v1/introspect"
            let inBody = try await running.wire.post(path, "client_id=password-app&token=\(token)")
            let inQuery = try await running.wire.post(path + "?client_id=password-app", "token=\(token)")
            #expect(try inBody.json["active"] == true)
            #expect(try inQuery.json == inBody.json)
            let both = try await running.wire.post(path + "?client_id=staff-app", "client_id=password-app&token=\(token)")
            try expectOAuthError(both, 400, "invalid_request", "The query and the body name different clients.")
        }
    }

    @Test(
        "Introspection reports an unknown or malformed token as inactive, without any other member",
        arguments: ["token=unknown&client_id=password-app", "token=a.b.c&client_id=password-app"])
    func inactive(form: String) async throws {
        let response = try await RunningServer.with { try await $0.wire.post("/oauth2/default/v1/introspect", form) }
        #expect(response.status == 200)
        #expect(response.body == #"{"active":false}"#)
    }

    @Test("Introspection reports an access token as inactive after its expiry, and at an authorization server that did not issue it")
    func expired() async throws {
        try await RunningServer.fresh { running in
            let token = try #require(try await running.signIn()["access_token"]?.stringValue)
            let form = "client_id=password-app&token=\(token)"
            #expect(try await running.wire.post("/oauth2/v1/introspect", form).json == Self.inactive)
            running.clock.advance(by: 3_600)
            #expect(try await running.wire.post("/oauth2/default/v1/introspect", form).json == Self.inactive)
        }
    }

    @Test(
        "An invalid introspection or revocation request is rejected with its documented status and body",
        arguments: ["introspect", "revoke"])
    func errors(endpoint: String) async throws {
        try await RunningServer.with { running in
            let path = "/oauth2/default/v1/" + endpoint
            try expectOAuthError(
                await running.wire.post(path, "client_id=password-app"), 400, "invalid_request", "The request needs the parameter token.")
            try expectOAuthError(
                await running.wire.post(path, "token=x"), 401, "invalid_client", "The request carries no client credentials.")
            try expectOAuthError(
                await running.wire.post(path, "token=x&client_id=unknown"), 401, "invalid_client",
                "The client credentials are wrong, or the client is not known.")
            try expectOAuthError(
                await running.wire.post(path, "token=x&client_id=post-app&client_secret=a&client_assertion=b"), 400, "invalid_request",
                "The request carries more than one kind of client credentials.")
            try expectOAuthError(
                await running.wire.post(path, "token=x&client_id=post-app&client_assertion=b&client_assertion_type=c"), 400,
                "invalid_request",
                "A client assertion needs both client_assertion and client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer."
            )
        }
    }

    @Test("Revocation returns 200 with an empty body, also for repeated and unknown tokens, and has immediate effect")
    func revocation() async throws {
        try await RunningServer.with { running in
            let tokens = try await running.signIn()
            let access = try #require(tokens["access_token"]?.stringValue)
            let refresh = try #require(tokens["refresh_token"]?.stringValue)
            for token in [access, access, "unknown", "a.b.c"] {
                let response = try await running.wire.post("/oauth2/default/v1/revoke", "client_id=password-app&token=\(token)")
                #expect(response.status == 200)
                #expect(response.body.isEmpty)
                #expect(response["Content-Length"] == "0")
                #expect(response["Content-Type"] == nil)
            }
            let path = "/oauth2/default/v1/introspect"
            #expect(try await running.wire.post(path, "client_id=password-app&token=\(access)").json == Self.inactive)
            #expect(try await running.wire.post(path, "client_id=password-app&token=\(refresh)").json["active"] == true)
            #expect(
                try await running.wire.get("/oauth2/default/v1/userinfo", headers: [("Authorization", "Bearer \(access)")]).status == 401)
        }
    }

    @Test("Concurrent revocations of different tokens all return 200, and the refresh token is revoked")
    func concurrentRevocations() async throws {
        try await RunningServer.with { running in
            let tokens = try await running.signIn()
            let access = try #require(tokens["access_token"]?.stringValue)
            let refresh = try #require(tokens["refresh_token"]?.stringValue)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for token in [access, refresh, "device-secret"] {
                    group.addTask {
                        try await running.wire.post("/oauth2/default/v1/revoke", "client_id=password-app&token=\(token)").status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [200, 200, 200])
            let again = try await running.wire.post(
                "/oauth2/default/v1/token", "client_id=password-app&grant_type=refresh_token&refresh_token=\(refresh)")
            try expectOAuthError(again, 400, "invalid_grant", "The refresh token is invalid or expired.")
        }
    }

    @Test("A token revocation by another client returns 200 and has no effect")
    func foreignRevocation() async throws {
        try await RunningServer.with { running in
            let access = try #require(try await running.signIn()["access_token"]?.stringValue)
            #expect(try await running.wire.post("/oauth2/default/v1/revoke", "client_id=staff-app&token=\(access)").status == 200)
            let state = try await running.wire.post("/oauth2/default/v1/introspect", "client_id=password-app&token=\(access)")
            #expect(try state.json["active"] == true)
        }
    }
}
