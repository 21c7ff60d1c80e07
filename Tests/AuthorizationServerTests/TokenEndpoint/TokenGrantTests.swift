import Foundation
import JOSE
import Testing

@Suite("Token grants")
struct TokenGrantTests {
    @Test(
        "A password grant returns exactly the members that belong to its scopes",
        arguments: ["/oauth2/v1/token", "/oauth2/default/v1/token"])
    func password(path: String) async throws {
        let response = try await RunningServer.with { running in
            try await running.wire.post(
                path,
                "client_id=password-app&grant_type=password&username=jane.doe@example.com&password=Correct-Horse-7&scope=openid+offline_access"
            )
        }
        #expect(response.status == 200)
        #expect(response["Content-Type"] == "application/json")
        #expect(response["Cache-Control"] == "no-cache, no-store")
        #expect(response["Pragma"] == "no-cache")
        let body = try #require(try response.json.objectValue)
        #expect(Set(body.keys) == ["token_type", "expires_in", "access_token", "scope", "refresh_token", "id_token"])
        #expect(body["token_type"] == "Bearer")
        #expect(body["expires_in"] == 3600)
        #expect(body["scope"] == "openid offline_access")
    }

    @Test("A token response without the scopes openid and offline_access has no ID token and no refresh token")
    func accessTokenOnly() async throws {
        let token = try await RunningServer.with { try await $0.signIn(scope: "messages.read") }
        #expect(Set(try #require(token.objectValue).keys) == ["token_type", "expires_in", "access_token", "scope"])
        #expect(token["scope"] == "messages.read")
    }

    @Test("A refresh without a scope returns the original scopes and a new refresh token")
    func refresh() async throws {
        try await RunningServer.with { running in
            let first = try await running.signIn()
            let refreshToken = try #require(first["refresh_token"]?.stringValue)
            let response = try await running.wire.post(
                "/oauth2/default/v1/token", "client_id=password-app&grant_type=refresh_token&refresh_token=\(refreshToken)")
            #expect(response.status == 200)
            #expect(response["Cache-Control"] == "no-cache, no-store")
            let second = try response.json
            #expect(second["scope"] == first["scope"])
            #expect(second["id_token"]?.stringValue != nil)
            #expect(second["refresh_token"]?.stringValue != nil)
            #expect(second["refresh_token"] != first["refresh_token"])
        }
    }

    @Test(
        "A service can send its client secret in the Basic header or in the body",
        arguments: [
            // service-app:service-app-secret%2B%2F%25
            ("Basic c2VydmljZS1hcHA6c2VydmljZS1hcHAtc2VjcmV0JTJCJTJGJTI1", ""),
            (nil, "&client_id=service-app&client_secret=service-app-secret%2B%2F%25"),
            (nil, "&client_id=post-app&client_secret=post-app-secret-0123"),
        ])
    func clientCredentials(authorization: String?, parameters: String) async throws {
        let response = try await RunningServer.with { running in
            try await running.wire.post(
                "/oauth2/default/v1/token", "grant_type=client_credentials&scope=messages.read" + parameters,
                headers: authorization.map { [("Authorization", $0)] } ?? [])
        }
        #expect(response.status == 200)
        let body = try #require(try response.json.objectValue)
        #expect(Set(body.keys) == ["token_type", "expires_in", "access_token", "scope"])
        #expect(body["scope"] == "messages.read")
    }

    @Test("The token endpoint accepts the form encoding and the extra parameters of the official client")
    func officialBody() async throws {
        // The form is sorted, has + for spaces and unescaped `@ : ! ' ( ) *`, parameters that the endpoint does not need, and CR LF in a
        // value.
        let form =
            "client_id=password-app&client_secret_hint=x'(y)*!&grant_type=password&grant_types_supported=password+urn:okta:params:oauth:grant-type:oob"
            + "&note=line%0D%0Ablah&password=Correct-Horse-7&redirect_uri=com.example:%2Fcallback&scope=openid+profile&username=jane.doe@example.com"
        let response = try await RunningServer.with { running in
            try await running.wire.post(
                "/oauth2/default/v1/token", form,
                headers: [
                    ("Accept", "application/json; charset=UTF-8"),
                    ("User-Agent", "okta-authfoundation-swift/2.1.4 okta-directauth-swift/2.1.4 iOS/17.4.0 Device/iPhone15,2"),
                ])
        }
        #expect(response.status == 200)
        #expect(try response.json["scope"] == "openid profile")
    }

    private static let twoFactors =
        "client_id=two-factor-app&grant_type=password&username=jane.doe@example.com&password=Correct-Horse-7&scope=openid"

    @Test("A user without a second factor is denied with access_denied if the policy requires two factors")
    func noSecondFactor() async throws {
        let response = try await RunningServer.with { try await $0.wire.post("/oauth2/default/v1/token", Self.twoFactors) }
        #expect(response.status == 400)
        let body = try #require(try response.json.objectValue)
        #expect(Set(body.keys) == ["error", "error_description"])
        #expect(body["error"] == "access_denied")
    }
}
