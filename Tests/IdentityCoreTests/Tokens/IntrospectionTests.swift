import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import Store

@Suite("Introspection (RFC 7662, Documentation/Protocol/OAuth.md §2.9)")
struct IntrospectionTests {
    @Test("Introspection of an active access token returns its claims, scope, client and user name (OAuth.md §2.9)")
    func accessToken() async throws {
        let organization = try await TestOrganization()
        let token = try await organization.signIn("openid messages.read offline_access").get().accessToken
        let claims = try claims(of: token)
        let known = try #require(try await organization.introspect(token).json.objectValue)
        #expect(known["active"] == true)
        #expect(known["token_type"] == "Bearer")
        #expect(known["scope"] == "openid messages.read offline_access")
        #expect(known["client_id"] == "password-app")
        #expect(known["username"] == "jane.doe@example.com")
        #expect(known["nbf"] == claims["iat"])
        for (name, value) in claims { #expect(known[name] == value) }
    }

    @Test("Introspection of a client's own access token returns no username")
    func clientToken() async throws {
        let organization = try await TestOrganization()
        let token = try await organization.service().get().accessToken
        let known = try #require(try await organization.introspect(token).json.objectValue)
        #expect(known["active"] == true)
        #expect(known["username"] == nil)
        #expect(known["sub"] == "service-app")
    }

    @Test("Introspection of an active refresh token returns exactly the documented members")
    func refreshToken() async throws {
        let organization = try await TestOrganization()
        let token = try await organization.signIn("openid offline_access").get().refreshToken
        #expect(
            try await organization.introspect(token).json == [
                "active": true, "token_type": "Bearer", "scope": "openid offline_access", "client_id": "password-app",
                "username": "jane.doe@example.com", "sub": "jane.doe@example.com", "exp": 1_700_604_800,
            ])
    }

    @Test("Introspection of an active ID token returns active true and the token's claims")
    func idToken() async throws {
        let organization = try await TestOrganization()
        let token = try await organization.signIn().get().idToken
        var expected = JSONValue.object(try claims(of: token))
        expected["active"] = true
        #expect(try await organization.introspect(token).json == expected)
    }

    @Test("Introspection reports an access token as active until exactly its exp time")
    func expiry() async throws {
        let organization = try await TestOrganization()
        let token = try await organization.signIn().get().accessToken
        #expect(try await organization.introspect(token, at: 3599.5).isActive)
        #expect(try await organization.introspect(token, at: 3599.75).json == ["active": false])
    }

    @Test("Introspection of any text that is not a valid token of this server returns active false and no other member")
    func inactive() async throws {
        let organization = try await TestOrganization()
        let tokens = try await organization.signIn().get()
        let token = tokens.accessToken
        let parts = token.split(separator: ".")
        let other = try await TestOrganization(seed: 2)
        let foreign = try await other.signIn().get()
        let tampered = "\(parts[0]).\(Base64URL.encode(Array("{\"iss\":\"https://id.test/oauth2/default\"}".utf8))).\(parts[2])"
        for text in ["nonsense", "a.b.c", "..", String(token.dropLast(4)), tampered, "rt_unknown", foreign.refreshToken ?? ""] {
            #expect(try await organization.introspect(text).json == ["active": false])
        }
        for text in [token, tokens.idToken, tokens.refreshToken] {
            for server in [nil, "other"] { #expect(try await organization.introspect(text, server: server).json == ["active": false]) }
        }
    }

    @Test("Introspection reports a signed access token whose grant was removed as inactive")
    func withoutGrant() async throws {
        let organization = try await TestOrganization()
        let token = try await organization.signIn().get().accessToken
        let grant = try #require(try await organization.grants().first)
        #expect(try await organization.store.commit([.remove(.grant, id: grant.id, version: grant.version)]) == .committed)
        #expect(try await organization.introspect(token).isActive == false)
    }

    @Test("A public client can introspect only its own tokens")
    func publicClients() async throws {
        let organization = try await TestOrganization()
        let tokens = try await organization.signIn().get()
        for (client, isActive) in [("password-app", true), ("other-app", false)] {
            let credentials = ClientCredentials(clientID: client, endpoint: TestOrganization.origin)
            for token in [tokens.accessToken, tokens.idToken, tokens.refreshToken] {
                #expect(try await organization.introspect(token, client: credentials).isActive == isActive)
            }
        }
    }

    @Test("A confidential client can introspect all access tokens, and its own refresh and ID tokens")
    func foreignRefreshAndIDTokens() async throws {
        let organization = try await TestOrganization {
            $0.applications.append(
                Application(
                    id: "web-app", name: "web-app", kind: .web, authentication: .clientSecretPost, secret: TestOrganization.longSecret,
                    grantTypes: ["password", "refresh_token"], assignment: .init(everyone: true), signOnPolicy: "one factor"))
        }
        let web = ClientCredentials(clientID: "web-app", secret: TestOrganization.longSecret, endpoint: TestOrganization.origin)
        let parameters = [
            "grant_type": "password", "username": TestOrganization.jane, "password": TestOrganization.janesPassword,
            "scope": "openid offline_access",
        ]
        let own = try await organization.token(parameters, client: web).get()
        for token in [own.accessToken, own.idToken, own.refreshToken] {
            #expect(try await organization.introspect(token, client: web).isActive)
        }
        let foreign = try await organization.signIn().get()
        #expect(try await organization.introspect(foreign.accessToken, client: web).isActive)
        for token in [foreign.idToken, foreign.refreshToken] {
            #expect(try await organization.introspect(token).isActive)
            #expect(try await organization.introspect(token, client: web).json == ["active": false])
        }
    }

    @Test(
        "An introspection or revocation request with invalid credentials or without a token gets the error code of its cause",
        arguments: [
            (ClientCredentials(clientID: "password-app", endpoint: ""), "", .invalidRequest),
            (ClientCredentials(endpoint: ""), "x", .invalidClient),
            (ClientCredentials(clientID: "unknown", endpoint: ""), "x", .invalidClient),
            (ClientCredentials(clientID: "a", secret: "b", basic: ("a", "b"), endpoint: ""), "x", .invalidRequest),
            (ClientCredentials(clientID: "a", assertionType: "urn:wrong", assertion: "b", endpoint: ""), "x", .invalidRequest),
        ] as [(ClientCredentials, String, Refusal.Code)])
    func refusals(credentials: ClientCredentials, token: String, code: Refusal.Code) async throws {
        let organization = try await TestOrganization()
        let request = TokenRequest(server: "default", client: credentials, parameters: ["token": token])
        let context = TestOrganization.context(TestOrganization.start)
        #expect(try await organization.engine.introspect(request, context: context).refused == code)
        #expect(try await organization.engine.revoke(request, context: context).refused == code)
        let elsewhere = TokenRequest(server: "missing", client: credentials, parameters: ["token": token])
        #expect(try await organization.engine.introspect(elsewhere, context: context).refused == .notFound)
    }
}
