import Crypto
import Foundation
import JOSE
import Testing

/// The requirements of Documentation/Protocol/OAuth.md §10 for a server that the unchanged official client accepts. Each test's name ends
/// with the number of its requirement.
@Suite("Requirements of the official client")
struct OfficialClientTests {
    private static let base = "/oauth2/default"

    private func claims(_ token: JSONValue?) throws -> JSONValue {
        let parts = try #require(token?.stringValue).split(separator: ".")
        return try JSONValue(parsing: try Base64URL.decode(String(parts[1])))
    }

    @Test("The metadata issuer and iss are the same https URL although the transport is plain HTTP (OAuth.md §10 #1)")
    func issuer() async throws {
        try await RunningServer.with { running in
            let issuer = try await running.wire.get(Self.base + "/.well-known/openid-configuration").json["issuer"]
            let tokens = try await running.signIn()
            #expect(issuer == .string("https://id.example.com/oauth2/default"))
            #expect(try claims(tokens["id_token"])["iss"] == issuer)
            #expect(try claims(tokens["access_token"])["iss"] == issuer)
        }
    }

    @Test("The token_endpoint contains /token once, at its end, and no endpoint URL has a query (OAuth.md §10 #2)")
    func endpoints() async throws {
        let document = try await RunningServer.with { try await $0.wire.get(Self.base + "/.well-known/openid-configuration").json }
        let token = try #require(document["token_endpoint"]?.stringValue)
        #expect(token.hasSuffix("/token"))
        #expect(token.components(separatedBy: "/token").count == 2)
        for (name, value) in try #require(document.objectValue) where name.hasSuffix("_endpoint") || name == "jwks_uri" {
            #expect(value.stringValue?.contains("?") == false, "\(name)")
        }
    }

    @Test("Metadata has the seven mandatory members, and the key set URL starts with the issuer (OAuth.md §10 #3)")
    func mandatoryMembers() async throws {
        try await RunningServer.with { running in
            let document = try await running.wire.get(Self.base + "/.well-known/openid-configuration").json
            let mandatory = [
                "issuer", "authorization_endpoint", "token_endpoint", "jwks_uri", "response_types_supported", "subject_types_supported",
                "id_token_signing_alg_values_supported",
            ]
            for name in mandatory { #expect(document[name] != nil, "\(name)") }
            #expect(document["jwks_uri"] == .string(RunningServer.origin + Self.base + "/v1/keys"))
            #expect(try await running.wire.get(Self.base + "/v1/keys").status == 200)
        }
    }

    @Test("Keys are RSA, EC or oct with kid, use and alg, and include the signing key (OAuth.md §10 #4)")
    func keys() async throws {
        try await RunningServer.with { running in
            let keys = try #require(try await running.wire.get(Self.base + "/v1/keys?client_id=password-app").json["keys"]?.arrayValue)
            for key in keys {
                #expect(["RSA", "EC", "oct"].contains(key["kty"]?.stringValue))
                #expect(key["kid"]?.stringValue?.isEmpty == false)
                #expect(key["use"] == "sig")
                #expect(key["alg"]?.stringValue?.isEmpty == false)
            }
            let idToken = try #require(try await running.signIn()["id_token"]?.stringValue)
            let header = try JSONValue(parsing: try Base64URL.decode(String(try #require(idToken.split(separator: ".").first))))
            #expect(keys.contains { $0["kid"] == header["kid"] })
        }
    }

    @Test("ID tokens have RS256, kid, a string aud, integer times, no nonce and the right at_hash (OAuth.md §10 #5)")
    func idToken() async throws {
        try await RunningServer.with { running in
            let tokens = try await running.signIn()
            let idToken = try #require(tokens["id_token"]?.stringValue)
            let header = try JSONValue(parsing: try Base64URL.decode(String(try #require(idToken.split(separator: ".").first))))
            #expect(header["alg"] == "RS256")
            #expect(header["kid"]?.stringValue != nil)
            let claims = try claims(tokens["id_token"])
            #expect(claims["aud"] == "password-app")
            for name in ["iat", "exp", "auth_time"] {
                guard case .integer = claims[name] else {
                    Issue.record("\(name) is no integer")
                    continue
                }
            }
            #expect(claims["nonce"] == nil)
            let digest = SHA256.hash(data: Data(try #require(tokens["access_token"]?.stringValue).utf8))
            #expect(claims["at_hash"] == .string(Base64URL.encode(Array(digest.prefix(16)))))
        }
    }

    @Test("Token responses have token_type, a numeric expires_in over 300, no id and no null (OAuth.md §10 #6)")
    func tokenJSON() async throws {
        let tokens = try await RunningServer.with { try await $0.signIn() }
        #expect(tokens["token_type"] == "Bearer")
        guard case .integer(let lifetime)? = tokens["expires_in"] else {
            Issue.record("expires_in is no integer")
            return
        }
        #expect(lifetime > 300)
        #expect(tokens["id"] == nil)
        #expect(try #require(tokens.objectValue).values.allSatisfy { !$0.isNull })
    }

    @Test(
        "Endpoints ignore unknown parameters (OAuth.md §10 #7)",
        arguments: ["/v1/token", "/v1/introspect", "/v1/revoke", "/v1/keys", "/.well-known/openid-configuration"])
    func unknownParameters(path: String) async throws {
        let form =
            "client_id=password-app&grant_type=password&username=jane.doe@example.com&password=Correct-Horse-7&scope=openid&token=x"
            + "&redirect_uri=com.example:/callback&grant_types_supported=password&anything=y&login_hint="
        let isPost = ["/v1/token", "/v1/introspect", "/v1/revoke"].contains(path)
        let response = try await RunningServer.with { running in
            isPost
                ? try await running.wire.post(Self.base + path, form)
                : try await running.wire.get(Self.base + path + "?redirect_uri=x&anything=y")
        }
        #expect(response.status == 200)
    }

    @Test("Forms may contain + for a space, raw : , ; @ ! $ ' ( ) * and encoded CR LF (OAuth.md §10 #8)")
    func formDecoding() async throws {
        let form =
            "client_id=password-app&grant_type=password&note=:,;@!$'()*&other=a%0D%0Ab&password=Correct-Horse-7&scope=openid+email&username=jane.doe@example.com"
        let response = try await RunningServer.with { try await $0.wire.post(Self.base + "/v1/token", form) }
        #expect(try response.json["scope"] == "openid email")
    }

    @Test("OAuth errors have a known name and a description, and API errors have empty causes (OAuth.md §10 #12)")
    func errors() async throws {
        try await RunningServer.with { running in
            let oauth = try await running.wire.post(Self.base + "/v1/token", "client_id=password-app&grant_type=nonsense").json
            #expect(oauth["error"] == "unsupported_grant_type")
            #expect(oauth["error_description"]?.stringValue?.hasSuffix(".") == true)
            let api = try await running.wire.get("/oauth2/unknown/v1/keys").json
            #expect(Set(try #require(api.objectValue).keys) == ["errorCode", "errorSummary", "errorLink", "errorId", "errorCauses"])
            #expect(api["errorCauses"] == [])
        }
    }

    @Test("Responses have Date, and x-okta-request-id and x-rate-limit headers in lower case (OAuth.md §10 #13)")
    func headers() async throws {
        let response = try await RunningServer.with { try await $0.wire.post(Self.base + "/v1/token", "client_id=password-app") }
        let names = response.headers.map(\.name)
        for name in ["Date", "x-okta-request-id", "x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset"] {
            #expect(names.contains(name), "\(name)")
        }
        for name in ["x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset"] {
            #expect(response[name].flatMap { Int($0) } != nil, "\(name) is no integer")
        }
    }

    @Test("A retry with X-Okta-Retry headers is a new request with a new request ID (OAuth.md §10 #14)")
    func retries() async throws {
        try await RunningServer.with { running in
            let form = "client_id=password-app&grant_type=password&username=jane.doe@example.com&password=Correct-Horse-7&scope=openid"
            let first = try await running.wire.post(Self.base + "/v1/token", form)
            let id = try #require(first["x-okta-request-id"])
            let second = try await running.wire.post(
                Self.base + "/v1/token", form, headers: [("X-Okta-Retry-For", id), ("X-Okta-Retry-Count", "1")])
            #expect(second.status == 200)
            #expect(second["x-okta-request-id"] != id)
        }
    }

    @Test("A refresh without scope returns the original scopes and an ID token without nonce (OAuth.md §10 #15)")
    func refresh() async throws {
        try await RunningServer.with { running in
            let first = try await running.signIn()
            let refreshToken = try #require(first["refresh_token"]?.stringValue)
            let second = try await running.wire.post(
                Self.base + "/v1/token",
                "client_id=password-app&grant_type=refresh_token&redirect_uri=x&refresh_token=\(refreshToken)"
            ).json
            #expect(second["scope"] == first["scope"])
            let claims = try claims(second["id_token"])
            #expect(claims["nonce"] == nil)
            #expect(claims["sub"] == (try self.claims(first["id_token"])["sub"]))
            #expect(claims["auth_time"] == (try self.claims(first["id_token"])["auth_time"]))
        }
    }

    @Test("Revocation returns 200 for unknown tokens, and introspection reads client_id from the body (OAuth.md §10 #16)")
    func revokeAndIntrospect() async throws {
        try await RunningServer.with { running in
            let revoked = try await running.wire.post(
                Self.base + "/v1/revoke", "client_id=password-app&token=unknown&token_type_hint=refresh_token")
            #expect(revoked.status == 200)
            #expect(revoked.body.isEmpty)
            let state = try await running.wire.post(Self.base + "/v1/introspect", "client_id=password-app&token=unknown")
            #expect(state.status == 200)
            #expect(state.body == #"{"active":false}"#)
        }
    }

    @Test("Access tokens of the default server have api://default, cid, uid, scp and the login in sub (OAuth.md §10 #20)")
    func accessToken() async throws {
        let tokens = try await RunningServer.with { try await $0.signIn() }
        let access = try claims(tokens["access_token"])
        let idToken = try claims(tokens["id_token"])
        #expect(access["aud"] == "api://default")
        #expect(access["cid"] == "password-app")
        #expect(access["scp"] == ["openid", "profile", "email", "offline_access"])
        #expect(access["sub"] == "jane.doe@example.com")
        #expect(access["uid"] == idToken["sub"])
        #expect(access["uid"]?.stringValue?.hasPrefix("00u") == true)
    }
}
