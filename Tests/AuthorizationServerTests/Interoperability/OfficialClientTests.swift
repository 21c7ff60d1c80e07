import Crypto
import Foundation
import JOSE
import Testing

/// The requirements of Documentation/Protocol/OAuth.md §10 for a server that the official client accepts unchanged: one test per line that
/// concerns the endpoints of today. The lines' numbers stand in the names.
@Suite("What the official client needs")
struct OfficialClientTests {
    private static let base = "/oauth2/default"

    private func claims(_ token: JSONValue?) throws -> JSONValue {
        let parts = try #require(token?.stringValue).split(separator: ".")
        return try JSONValue(parsing: try Base64URL.decode(String(parts[1])))
    }

    @Test("1: metadata issuer and iss are the same https string while the transport is plain")
    func issuer() async throws {
        try await RunningServer.with { running in
            let issuer = try await running.wire.get(Self.base + "/.well-known/openid-configuration").json["issuer"]
            let tokens = try await running.signIn()
            #expect(issuer == .string("https://id.example.com/oauth2/default"))
            #expect(try claims(tokens["id_token"])["iss"] == issuer)
            #expect(try claims(tokens["access_token"])["iss"] == issuer)
        }
    }

    @Test("2: token_endpoint ends in /token, has no earlier one, and no endpoint has a query")
    func endpoints() async throws {
        let document = try await RunningServer.with { try await $0.wire.get(Self.base + "/.well-known/openid-configuration").json }
        let token = try #require(document["token_endpoint"]?.stringValue)
        #expect(token.hasSuffix("/token"))
        #expect(token.components(separatedBy: "/token").count == 2)
        for (name, value) in try #require(document.objectValue) where name.hasSuffix("_endpoint") || name == "jwks_uri" {
            #expect(value.stringValue?.contains("?") == false, "\(name)")
        }
    }

    @Test("3: the seven mandatory members are there, and keys are reachable below the issuer")
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

    @Test("4: keys are RSA, EC or oct, each with kid, use and alg, and the signing key is among them")
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

    @Test("5: id tokens are RS256 with kid, string aud, integer times, auth_time, no nonce, and the right at_hash")
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

    @Test("6: token JSON has token_type, a numeric expires_in over 300, no member called id, and no null")
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
        "7: unknown parameters are ignored everywhere",
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

    @Test("8: + is a space, : , ; @ ! $ ' ( ) * may be raw, and CR LF may stand in values")
    func formDecoding() async throws {
        let form =
            "client_id=password-app&grant_type=password&note=:,;@!$'()*&other=a%0D%0Ab&password=Correct-Horse-7&scope=openid+email&username=jane.doe@example.com"
        let response = try await RunningServer.with { try await $0.wire.post(Self.base + "/v1/token", form) }
        #expect(try response.json["scope"] == "openid email")
    }

    @Test("12: error names are those of the catalogue, with a readable description; API errors have empty causes")
    func errors() async throws {
        try await RunningServer.with { running in
            let oauth = try await running.wire.post(Self.base + "/v1/token", "client_id=password-app&grant_type=nonsense").json
            #expect(oauth["error"] == "unsupported_grant_type")
            #expect(oauth["error_description"]?.stringValue?.hasSuffix(".") == true)
            let api = try await running.wire.get("/oauth2/nobody/v1/keys").json
            #expect(Set(try #require(api.objectValue).keys) == ["errorCode", "errorSummary", "errorLink", "errorId", "errorCauses"])
            #expect(api["errorCauses"] == [])
        }
    }

    @Test("13: date, x-okta-request-id and x-rate-limit-* are there, the latter two in lower case")
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

    @Test("14: a retry with X-Okta-Retry headers is a new request with a new id")
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

    @Test("15: a refresh without scope gives the original scopes and an id token without nonce")
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

    @Test("16: revoke is 200 with an empty body for unknown tokens, and introspect reads client_id from the body")
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

    @Test("20: access tokens of the default server have api://default, cid, uid, scp, and the login in sub")
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
