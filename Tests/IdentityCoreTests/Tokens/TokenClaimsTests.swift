import Crypto
import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints

@Suite("The claims of tokens (Documentation/Protocol/OAuth.md §3)")
struct TokenClaimsTests {
    private let issuedAt: JSONValue = 1_700_000_000

    @Test("A user's access token has exactly the claims of OAuth.md §3.2")
    func accessToken() async throws {
        let organization = try await TestOrganization()
        let response = try await organization.signIn("openid profile messages.read offline_access").get()
        var claims = try claims(of: response.accessToken)
        let grant = try #require(try await organization.grants().first)
        let family = try #require(grant.refresh)
        let id = try #require(claims.removeValue(forKey: "jti")?.stringValue)
        #expect(id.hasPrefix("AT.\(grant.id)"))
        #expect(id.hasSuffix(".\(family.id)"))
        #expect(family.id.hasPrefix("oar"))
        #expect(family.id.count == 20)
        let user = try #require(try await organization.janesID())
        #expect(
            claims == [
                "ver": 1, "iss": "https://id.test/oauth2/default", "aud": "api://default", "iat": issuedAt, "exp": 1_700_003_600,
                "cid": "password-app", "client_id": "password-app", "uid": .string(user),
                "scp": ["openid", "profile", "messages.read", "offline_access"],
                "sub": "jane.doe@example.com", "auth_time": 1_699_999_999,
            ])
        #expect(response.expiresIn == 3600)
        #expect(response.tokenType == "Bearer")
    }

    @Test("An ID token has exactly the claims of OAuth.md §3.3, and no nonce")
    func idToken() async throws {
        let organization = try await TestOrganization()
        let response = try await organization.signIn("openid profile email phone").get()
        var claims = try claims(of: response.idToken)
        let id = try #require(claims.removeValue(forKey: "jti")?.stringValue)
        #expect(id.hasPrefix("ID."))
        let user = try #require(try await organization.janesID())
        let hash = Base64URL.encode(Array(SHA256.hash(data: Array(response.accessToken.utf8)).prefix(16)))
        #expect(
            claims == [
                "ver": 1, "iss": "https://id.test/oauth2/default", "aud": "password-app", "iat": issuedAt, "exp": 1_700_003_600,
                "sub": .string(user), "auth_time": 1_699_999_999, "amr": ["pwd"], "idp": "00o0000000000000test",
                "at_hash": .string(hash), "name": "Jane Doe", "preferred_username": "jane.doe@example.com", "email": "jane.doe@example.com",
            ])
    }

    @Test("In an ID token, auth_time is one second before iat even if sign-in and issuance happen in the same second")
    func authenticationTime() async throws {
        let organization = try await TestOrganization()
        let response = try await organization.signIn(at: 0.5).get()
        let claims = try claims(of: response.idToken)
        let issued = try #require(claims["iat"]?.intValue)
        let authenticated = try #require(claims["auth_time"]?.intValue)
        #expect(authenticated < issued)
        #expect(issued - authenticated == 1)
    }

    @Test("A client's own access token has the client id as sub, and no user claims")
    func clientAccessToken() async throws {
        let organization = try await TestOrganization()
        let response = try await organization.service().get()
        var claims = try claims(of: response.accessToken)
        let id = try #require(claims.removeValue(forKey: "jti")?.stringValue)
        #expect(!id.dropFirst(3).contains("."))
        #expect(
            claims == [
                "ver": 1, "iss": "https://id.test/oauth2/default", "aud": "api://default", "iat": issuedAt, "exp": 1_700_003_600,
                "cid": "service-app", "client_id": "service-app", "scp": ["messages.read"], "sub": "service-app",
            ])
        #expect(response.idToken == nil)
        #expect(response.refreshToken == nil)
    }

    @Test(
        "The header of each token has alg and a published kid, and the header of an access token also has typ at+jwt",
        arguments: [JWSAlgorithm.rs256, .es256])
    func header(algorithm: JWSAlgorithm) async throws {
        let organization = try await TestOrganization { $0.authorizationServers[1].accessTokenAlgorithm = algorithm }
        let response = try await organization.signIn().get()
        let published = try await organization.engine.snapshot().keyRing.publishedKeys(now: TestOrganization.start)
        for (token, expected, type) in [(response.accessToken, algorithm, "at+jwt"), (try #require(response.idToken), .rs256, nil)] {
            let signature = try JSONWebSignature(parsing: token)
            #expect(signature.header.objectValue.map { Set($0.keys) } == (type == nil ? ["alg", "kid"] : ["alg", "kid", "typ"]))
            #expect(signature.type == type)
            #expect(signature.algorithm == expected)
            let id = try #require(signature.keyID)
            let key = try #require(published[keyID: id])
            try signature.verify(with: VerificationKey(key, algorithm: expected))
        }
    }

    @Test("An access token of the org server has the origin as issuer and audience, and only the ID token contains groups")
    func organizationServer() async throws {
        let organization = try await TestOrganization()
        let response = try await organization.signIn("openid groups", server: nil).get()
        let access = try claims(of: response.accessToken)
        #expect(access["iss"] == "https://id.test")
        #expect(access["aud"] == "https://id.test")
        #expect(access["groups"] == nil)
        #expect(try claims(of: response.idToken)["groups"] == ["staff"])
    }

    @Test("An ID token and the userinfo endpoint require the scope openid, and a refresh token requires offline_access")
    func withoutScopes() async throws {
        let organization = try await TestOrganization()
        let profile = try await organization.signIn("profile").get()
        #expect(profile.idToken == nil)
        #expect(profile.refreshToken == nil)
        #expect(profile.scopes == ["profile"])
        #expect(try await organization.userInfo(profile.accessToken).refused == .insufficientScope)
        let offline = try await organization.signIn("offline_access").get()
        #expect(offline.idToken == nil)
        #expect(offline.refreshToken != nil)
    }

    @Test("A custom claim is only in its configured token type, only with its configured scopes, and only if it has a value")
    func customClaims() async throws {
        let organization = try await TestOrganization {
            $0.authorizationServers[1].claims = [
                ClaimDefinition(name: "tenant", destination: .accessToken, source: .constant("north")),
                ClaimDefinition(name: "zone", destination: .accessToken, source: .profile("zoneinfo"), scopes: ["messages.read"]),
                ClaimDefinition(name: "team", destination: .idToken, source: .groups(prefix: "st")),
                ClaimDefinition(name: "nick", destination: .idToken, source: .profile("nickname")),
                ClaimDefinition(name: "name", destination: .idToken, source: .constant("Mallory")),
            ]
        }
        let plain = try await organization.signIn("openid").get()
        #expect(try claims(of: plain.accessToken)["tenant"] == "north")
        #expect(try claims(of: plain.accessToken)["zone"] == nil)
        #expect(try claims(of: plain.idToken)["team"] == ["staff"])
        #expect(try claims(of: plain.idToken)["nick"] == nil)
        #expect(try claims(of: plain.idToken)["tenant"] == nil)
        let scoped = try await organization.signIn("openid messages.read").get()
        #expect(try claims(of: scoped.accessToken)["zone"] == "Europe/London")
        let service = try await organization.service().get()
        #expect(try claims(of: service.accessToken)["tenant"] == "north")
        #expect(try claims(of: service.accessToken)["zone"] == nil)
        // A standard claim of the requested scopes wins. The claims of the protocol cannot be configured at all.
        let profile = try await organization.signIn("openid profile").get()
        #expect(try claims(of: profile.idToken)["name"] == "Jane Doe")
        for name in ["sub", "iss", "aud", "exp", "scp", "uid", "cid", "auth_time", "amr", "nonce"] {
            for destination in [ClaimDefinition.Destination.accessToken, .idToken] {
                let error = await #expect(throws: OrganizationError.self) {
                    try await TestOrganization {
                        $0.authorizationServers[1].claims = [.init(name: name, destination: destination, source: .constant("Mallory"))]
                    }
                }
                #expect(error?.problems.map(\.place) == ["authorizationServers[1].claims[0].name"])
            }
        }
    }

    @Test("The access token and the ID token contain the requested acr that the sign-in satisfied, also after a refresh")
    func contextClass() async throws {
        let organization = try await TestOrganization()
        let response = try await organization.signIn(["acr_values": "urn:okta:loa:1fa:pwd"]).get()
        #expect(try claims(of: response.accessToken)["acr"] == "urn:okta:loa:1fa:pwd")
        #expect(try claims(of: response.idToken)["acr"] == "urn:okta:loa:1fa:pwd")
        let refreshed = try await organization.refresh(response.refreshToken, at: 60).get()
        #expect(try claims(of: refreshed.idToken)["acr"] == "urn:okta:loa:1fa:pwd")
    }

    @Test("The access token and its introspection response have acr and auth_time, which a refresh does not change")
    func authenticationInAccessToken() async throws {
        let organization = try await TestOrganization()
        let response = try await organization.signIn(["acr_values": "urn:okta:loa:1fa:pwd"]).get()
        let first = try claims(of: response.accessToken)
        let refreshed = try await organization.refresh(response.refreshToken, at: 60).get()
        let later = try claims(of: refreshed.accessToken)
        #expect(first["acr"] == "urn:okta:loa:1fa:pwd" && first["auth_time"]?.intValue != nil)
        #expect(later["iat"] != first["iat"])
        let known = try await organization.introspect(refreshed.accessToken, at: 60).json
        for name in ["acr", "auth_time"] { #expect(later[name] == first[name] && known[name] == first[name], "\(name)") }
    }

    @Test("The access tokens of users and of services have the claims that RFC 9068 requires, and only those of users have auth_time")
    func requiredClaims() async throws {
        let organization = try await TestOrganization()
        let user = try claims(of: await organization.signIn().get().accessToken)
        let service = try claims(of: await organization.service().get().accessToken)
        for claims in [user, service] {
            for name in ["iss", "aud", "sub", "client_id", "jti"] { #expect(claims[name]?.stringValue?.isEmpty == false, "\(name)") }
            for name in ["exp", "iat"] { #expect(claims[name]?.intValue != nil, "\(name)") }
            #expect(claims["client_id"] == claims["cid"])
        }
        #expect(user["auth_time"] != nil && service["auth_time"] == nil && service["acr"] == nil)
    }

    @Test("Equal requests return access tokens of equal length, with aud before ver")
    func deterministic() async throws {
        let first = try await TestOrganization().signIn().get()
        let second = try await TestOrganization().signIn().get()
        let payloads = try [first, second].map { try JSONWebSignature(parsing: $0.accessToken).payload }
        let names = payloads.map {
            String(decoding: $0, as: UTF8.self).split(separator: "\"").map(String.init).filter { $0 == "aud" || $0 == "ver" }
        }
        #expect(names[0] == ["aud", "ver"])
        #expect(names[0] == names[1])
        #expect(payloads[0].count == payloads[1].count)
    }
}

extension TestOrganization {
    fileprivate func signIn(_ more: [String: String]) async throws -> Result<TokenResponse, Refusal> {
        try await signIn("openid profile offline_access", client: "password-app", server: "default", at: 0, more)
    }
}
