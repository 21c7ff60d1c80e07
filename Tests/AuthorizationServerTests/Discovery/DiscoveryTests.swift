import AuthorizationServer
import Crypto
import Foundation
import HTTPTypes
import IdentityCore
import JOSE
import Store
import TestSupport
import Testing

@Suite("Discovery and keys endpoints")
struct DiscoveryTests {
    private static func document(issuer: String, base: String, scopes: JSONValue, isOrg: Bool, isOpenID: Bool) -> JSONValue {
        let methods: JSONValue = ["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "none"]
        let algorithms: JSONValue = ["HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "ES384", "ES512"]
        let grants =
            [
                "authorization_code", "client_credentials", "http://auth0.com/oauth/grant-type/mfa-oob",
                "http://auth0.com/oauth/grant-type/mfa-otp", "password",
                "refresh_token",
            ] + (isOrg ? ["urn:countersign:params:oauth:grant-type:enrollment-ticket"] : [])
            + ["urn:ietf:params:oauth:grant-type:device_code"] + [
                "urn:ietf:params:oauth:grant-type:" + (isOrg ? "jwt-bearer" : "token-exchange")
            ]
            + [
                "urn:okta:params:oauth:grant-type:mfa-webauthn", "urn:okta:params:oauth:grant-type:oob",
                "urn:okta:params:oauth:grant-type:otp", "urn:okta:params:oauth:grant-type:webauthn", "urn:openid:params:grant-type:ciba",
            ]
        var document: JSONValue = [
            "issuer": .string(issuer), "authorization_endpoint": .string(base + "/authorize"),
            "token_endpoint": .string(base + "/token"), "jwks_uri": .string(base + "/keys"),
            "introspection_endpoint": .string(base + "/introspect"), "revocation_endpoint": .string(base + "/revoke"),
            "end_session_endpoint": .string(base + "/logout"), "device_authorization_endpoint": .string(base + "/device/authorize"),
            "response_types_supported": ["code"], "response_modes_supported": ["query", "fragment", "form_post"],
            "pushed_authorization_request_endpoint": .string(base + "/par"),
            "prompt_values_supported": ["none", "login", "consent"], "authorization_response_iss_parameter_supported": true,
            "request_parameter_supported": false, "request_uri_parameter_supported": false,
            "acr_values_supported": [
                "urn:okta:loa:1fa:any", "urn:okta:loa:1fa:pwd", "urn:okta:loa:2fa:any", "urn:okta:loa:2fa:any:ifpossible", "phr", "phrh",
            ],
            "subject_types_supported": ["public"],
            "grant_types_supported": JSONValue(grants), "scopes_supported": scopes,
            "backchannel_authentication_endpoint": .string(base + "/bc/authorize"), "backchannel_token_delivery_modes_supported": ["poll"],
            "claims_supported": ["ver", "jti", "iss", "aud", "iat", "exp", "cid", "uid", "scp", "sub"],
            "code_challenge_methods_supported": ["S256"],
            "dpop_signing_alg_values_supported": ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512"],
            "token_endpoint_auth_methods_supported": methods, "token_endpoint_auth_signing_alg_values_supported": algorithms,
            "introspection_endpoint_auth_methods_supported": methods,
            "introspection_endpoint_auth_signing_alg_values_supported": algorithms,
            "revocation_endpoint_auth_methods_supported": methods,
            "revocation_endpoint_auth_signing_alg_values_supported": algorithms,
        ]
        if isOpenID {
            document["backchannel_logout_supported"] = true
            document["backchannel_logout_session_supported"] = true
            document["userinfo_endpoint"] = .string(base + "/userinfo")
            document["id_token_signing_alg_values_supported"] = ["RS256"]
            document["claims_supported"] = [
                "iss", "ver", "sub", "aud", "iat", "exp", "jti", "auth_time", "amr", "idp", "nonce", "name", "nickname",
                "preferred_username", "given_name", "middle_name", "family_name", "email", "email_verified", "profile", "zoneinfo",
                "locale", "address", "phone_number", "picture", "website", "gender", "birthdate", "updated_at", "at_hash", "sid", "ds_hash",
            ]
        }
        return document
    }

    @Test(
        "Each well-known path of OpenID Connect and OAuth returns the complete metadata document",
        arguments: [
            ("/.well-known/openid-configuration", true, true),
            ("/.well-known/oauth-authorization-server", true, false),
            ("/oauth2/default/.well-known/openid-configuration", false, true),
            ("/oauth2/default/.well-known/oauth-authorization-server", false, false),
            ("/.well-known/oauth-authorization-server/oauth2/default", false, false),
        ])
    func documents(path: String, isOrg: Bool, isOpenID: Bool) async throws {
        let origin = RunningServer.origin
        let response = try await RunningServer.with { try await $0.wire.get(path) }
        let reserved: [JSONValue] = ["openid", "profile", "email", "address", "phone", "offline_access"]
        let expected = Self.document(
            issuer: isOrg ? origin : origin + "/oauth2/default", base: isOrg ? origin + "/oauth2/v1" : origin + "/oauth2/default/v1",
            scopes: .array(reserved + (isOrg ? ["groups"] : ["device_sso", "messages.read"])), isOrg: isOrg, isOpenID: isOpenID)
        #expect(response.status == 200)
        #expect(try response.json == expected)
        #expect(response["Content-Type"] == "application/json")
        #expect(response["Cache-Control"] == "max-age=300, must-revalidate")
    }

    @Test("Discovery accepts a known client_id, and rejects an unknown client_id with the API error invalid_client")
    func clientQuery() async throws {
        try await RunningServer.with { running in
            let path = "/oauth2/default/.well-known/openid-configuration?client_id="
            #expect(try await running.wire.get(path + "password-app").status == 200)
            let refused = try await running.wire.get(path + "unknown")
            #expect(refused.status == 400)
            try expectAPIError(refused, code: "invalid_client", summary: "The client_id of the query is not known here.")
        }
    }

    @Test(
        "Every request to an unknown authorization server returns 404 E0000007",
        arguments: [
            ("GET", "/oauth2/unknown/.well-known/openid-configuration"), ("GET", "/.well-known/oauth-authorization-server/oauth2/unknown"),
            ("GET", "/oauth2/unknown/v1/keys"), ("POST", "/oauth2/unknown/v1/token"), ("GET", "/oauth2/unknown/v1/userinfo"),
            ("POST", "/oauth2/unknown/v1/introspect"), ("POST", "/oauth2/unknown/v1/revoke"), ("GET", "/oauth2/unknown/v1/anything"),
        ])
    func unknownServer(method: String, path: String) async throws {
        let response = try await RunningServer.with { try await $0.wire.call(method, path) }
        #expect(response.status == 404)
        try expectAPIError(
            response, code: "E0000007", summary: "Not found: this organization has no such authorization server.")
    }

    @Test(
        "The keys endpoint returns one RSA signing key with only its public members, and the response may be cached for an hour",
        arguments: ["/oauth2/v1/keys", "/oauth2/default/v1/keys?client_id=password-app"])
    func keys(path: String) async throws {
        let response = try await RunningServer.with { try await $0.wire.get(path) }
        #expect(response.status == 200)
        #expect(response["Content-Type"] == "application/json")
        #expect(response["Cache-Control"] == "max-age=3600, must-revalidate")
        let keys = try #require(try response.json["keys"]?.arrayValue)
        #expect(keys.count == 1)
        let key = try #require(keys.first?.objectValue)
        #expect(Set(key.keys) == ["kty", "kid", "use", "alg", "n", "e"])
        #expect(key["kty"] == "RSA")
        #expect(key["use"] == "sig")
        #expect(key["alg"] == "RS256")
        #expect(key["e"] == "AQAB")
    }

    @Test("A HEAD request returns the same Content-Length as a GET request, and no body")
    func head() async throws {
        try await RunningServer.with { running in
            let get = try await running.wire.get("/oauth2/default/v1/keys")
            let head = try await running.wire.call("HEAD", "/oauth2/default/v1/keys")
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            #expect(head["Content-Length"] == get["Content-Length"])
            #expect(head["Content-Length"] == String(get.body.utf8.count))
        }
    }

    @Test("Discovery shows a configuration change by another server, and shows the last known configuration after the database closes")
    func anotherServer() async throws {
        let store = InMemoryStore()
        let environment = EngineEnvironment(
            random: SystemRandomSource(), masterKey: SymmetricKey(size: .bits256), passwordHasher: PasswordHasher(width: 1))
        let (shown, other) = (
            Engine(store: store, environment: environment, configurationAge: .zero), Engine(store: store, environment: environment)
        )
        let context = RequestContext(now: ManualClock.start, requestID: "start")
        var definition = PushOrganization().definition(origin: RunningServer.origin)
        _ = try await other.apply(definition, context: context)
        _ = try await other.maintainKeys(context) { $0 == .rs256 ? try TestKeys.rsa() : try SigningKey.generate($0) }
        let server = AuthorizationServer(engine: shown, configuration: .init(port: 0), clock: ManualClock(sleeps: .untilCancelled))
        func scopes() async throws -> [JSONValue] {
            let request = HTTPRequest(
                method: .get, scheme: "http", authority: "id.example.com", path: "/oauth2/default/.well-known/openid-configuration")
            let answer = try await server.respond(to: request)
            #expect(answer.head.status == .ok)
            return try JSONValue(parsing: Data(answer.body))["scopes_supported"]?.arrayValue ?? []
        }
        #expect(try await !scopes().contains("messages.write"))
        for index in definition.authorizationServers.indices where definition.authorizationServers[index].id == "default" {
            definition.authorizationServers[index].scopes.append(ScopeDefinition(name: "messages.write"))
        }
        _ = try await other.apply(definition, context: context)
        #expect(try await scopes().contains("messages.write"))
        try await store.close()
        #expect(try await scopes().contains("messages.write"))
        let token = HTTPRequest(
            method: .post, scheme: "http", authority: "id.example.com", path: "/oauth2/default/v1/token",
            headerFields: [.contentType: "application/x-www-form-urlencoded"])
        let form = Array("grant_type=refresh_token&client_id=easy-app&refresh_token=x".utf8)
        #expect(try await server.respond(to: token, body: form).head.status == .serviceUnavailable)
    }

    @Test("A configuration snapshot is recent only for the configured time after the server has read the configuration from the store")
    func recentConfiguration() async throws {
        for (age, isRecent) in [(Duration.seconds(3_600), true), (.zero, false)] {
            let engine = Engine(
                store: InMemoryStore(),
                environment: EngineEnvironment(
                    random: SystemRandomSource(), masterKey: SymmetricKey(size: .bits256), passwordHasher: PasswordHasher(width: 1)),
                configurationAge: age)
            #expect(engine.recentSnapshot == nil)
            _ = try await engine.apply(
                PushOrganization().definition(origin: RunningServer.origin),
                context: RequestContext(now: ManualClock.start, requestID: "start"))
            _ = try await engine.snapshot()
            #expect((engine.recentSnapshot != nil) == isRecent && engine.latestSnapshot != nil)
        }
    }
}
