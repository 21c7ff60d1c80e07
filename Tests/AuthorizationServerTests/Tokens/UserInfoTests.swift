import JOSE
import TestSupport
import Testing

@Suite("UserInfo endpoint")
struct UserInfoTests {
    private static let path = "/oauth2/default/v1/userinfo"

    @Test("UserInfo returns the claims of the granted scopes, by GET and by POST")
    func claims() async throws {
        try await RunningServer.with { running in
            let tokens = try await running.signIn()
            let access = try #require(tokens["access_token"]?.stringValue)
            let get = try await running.wire.get(Self.path, headers: [("Authorization", "Bearer \(access)")])
            #expect(get.status == 200)
            #expect(get["Content-Type"] == "application/json")
            #expect(get["Cache-Control"] == "no-cache, no-store")
            let claims = try get.json
            #expect(claims["sub"]?.stringValue?.hasPrefix("00u") == true)
            #expect(claims["name"] == "Jane Doe")
            #expect(claims["given_name"] == "Jane")
            #expect(claims["family_name"] == "Doe")
            #expect(claims["preferred_username"] == "jane.doe@example.com")
            #expect(claims["email"] == "jane.doe@example.com")
            #expect(claims["email_verified"] == true)
            #expect(claims["zoneinfo"] == "Europe/London")
            #expect(claims["updated_at"]?.integerValue != nil)
            #expect(claims["phone_number"] == nil)
            let post = try await running.wire.call(
                "POST", Self.path, headers: [("authorization", "bearer \(access)"), ("Content-Length", "0")])
            #expect(post.status == 200)
            #expect(try post.json == claims)
            let form = try await running.wire.post(Self.path, "access_token=\(access)")
            #expect(try form.json == claims)
        }
    }

    @Test("A UserInfo request without a token gets an empty 401 response whose challenge has no error code")
    func noToken() async throws {
        let response = try await RunningServer.with { try await $0.wire.get(Self.path) }
        #expect(response.status == 401)
        #expect(
            response["WWW-Authenticate"]
                == #"Bearer realm="countersign", DPoP algs="RS256 RS384 RS512 ES256 ES384 ES512""#)
        #expect(response.body.isEmpty)
    }

    @Test(
        "UserInfo rejects an invalid token with an empty 401 response and invalid_token in the WWW-Authenticate header",
        arguments: ["nonsense", "a.b.c", "eyJhbGciOiJub25lIn0.e30."])
    func badToken(token: String) async throws {
        let response = try await RunningServer.with {
            try await $0.wire.get(Self.path, headers: [("Authorization", "Bearer \(token)")])
        }
        #expect(response.status == 401)
        #expect(
            response["WWW-Authenticate"]
                == #"Bearer error="invalid_token", error_description="The access token is invalid or expired.""#)
        #expect(response.body.isEmpty)
        #expect(response["Content-Type"] == nil)
    }

    @Test("UserInfo rejects an expired access token, a refresh token and an ID token with 401")
    func wrongKindOfToken() async throws {
        try await RunningServer.fresh { running in
            let tokens = try await running.signIn()
            for kind in ["refresh_token", "id_token"] {
                let token = try #require(tokens[kind]?.stringValue)
                let response = try await running.wire.get(Self.path, headers: [("Authorization", "Bearer \(token)")])
                #expect(response.status == 401, "\(kind)")
            }
            running.clock.advance(by: 3_600)
            let access = try #require(tokens["access_token"]?.stringValue)
            #expect(try await running.wire.get(Self.path, headers: [("Authorization", "Bearer \(access)")]).status == 401)
        }
    }

    @Test(
        "UserInfo rejects a token without the scope openid with an empty 403 response and insufficient_scope in the WWW-Authenticate header"
    )
    func insufficientScope() async throws {
        try await RunningServer.with { running in
            let access = try #require(try await running.signIn(scope: "messages.read")["access_token"]?.stringValue)
            let response = try await running.wire.get(Self.path, headers: [("Authorization", "Bearer \(access)")])
            #expect(response.status == 403)
            #expect(
                response["WWW-Authenticate"]
                    == #"Bearer error="insufficient_scope", error_description="The access token must have the scope openid.""#)
            #expect(response.body.isEmpty)
        }
    }

    @Test("UserInfo rejects a request that contains two access tokens with invalid_request")
    func twoTokens() async throws {
        let response = try await RunningServer.with {
            try await $0.wire.post(Self.path, "access_token=a", headers: [("Authorization", "Bearer b")])
        }
        #expect(response.status == 400)
        #expect(
            response["WWW-Authenticate"]
                == #"Bearer error="invalid_request", error_description="The request carries more than one access token.""#)
    }
}
