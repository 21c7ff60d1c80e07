import Foundation
import JOSE
import ResourceServer
import Synchronization
import Testing

/// Tests tokens that are not access tokens, but have the right issuer, a valid signature and the right audience.
@Suite("Attacks: token confusion at a resource server")
struct TokenConfusionTests {
    let issuer: TestIssuer
    /// A verifier whose audience is a client id. This is the worst case, because ID tokens and logout tokens then have the right audience.
    let verifier: AccessTokenVerifier

    init() throws {
        let issuer = try TestIssuer()
        self.issuer = issuer
        verifier = AccessTokenVerifier(
            .init(issuer: TestIssuer.url, audience: "app"), fetcher: issuer, now: { TestIssuer.now })
    }

    /// Changes that replace the claims of an access token by those of an ID token.
    private static let idToken: [String: JSONValue?] = [
        "aud": "app", "cid": nil, "scp": nil, "uid": nil, "sub": "00u1", "amr": ["pwd"], "idp": "00o1", "auth_time": 1_749_999_980,
    ]

    private func refusedToken(_ changes: [String: JSONValue?], type: String? = nil) async throws -> AccessTokenError.Code? {
        let token = try issuer.token(changing: changes, type: type)
        let code = await refusal { try await verifier.verify(token) }
        #expect(await refusal { try verifier.verifyNow(token) } == code)
        return code
    }

    @Test("An access token is accepted with the type at+jwt or JWT, and also without a type, because Okta's access tokens have none")
    func accepted() async throws {
        for type in [nil, "at+jwt", "AT+JWT", "application/at+jwt", "JWT", "jwt"] {
            #expect(try await refusedToken(["aud": "app"], type: type) == nil, "\(type ?? "no type")")
        }
    }

    @Test("An ID token with the type JWT or without a type is rejected as an access token, whatever its claims are")
    func idTokens() async throws {
        let variants: [[String: JSONValue?]] = [
            [:], ["nonce": "n"], ["at_hash": "h"], ["c_hash": "h"], ["azp": "app"], ["nonce": "n", "at_hash": "h", "sid": "ses1"],
            // The administrator has added claims to the ID token that have the names of an access token's claims.
            ["scope": "openid", "nonce": "n"], ["client_id": "app", "at_hash": "h"], ["scp": ["messages.read"], "c_hash": "h"],
        ]
        for variant in variants {
            for type in [nil, "JWT"] {
                let claims = Self.idToken.merging(variant) { $1 }
                #expect(try await refusedToken(claims, type: type) == .wrongType, "\(variant) \(type ?? "no type")")
            }
        }
    }

    @Test("A logout token is rejected as an access token, with any type and without a type")
    func logoutTokens() async throws {
        let claims = Self.idToken.merging([
            "sid": "ses1", "events": ["http://schemas.openid.net/event/backchannel-logout": [:]], "scope": "openid",
        ]) { $1 }
        for type in [nil, "JWT", "logout+jwt", "application/logout+jwt"] {
            #expect(try await refusedToken(claims, type: type) == .wrongType, "\(type ?? "no type")")
        }
    }

    @Test(
        "A token whose type is not an access token's type is rejected, even if its claims are those of an access token",
        arguments: [
            "okta-pushbind+jwt", "dpop+jwt", "client-authentication+jwt", "secevent+jwt", "JOSE", "at+jwt2", "", "application/",
            "application/application/at+jwt",
        ])
    func otherTypes(type: String) async throws {
        #expect(try await refusedToken(["aud": "app"], type: type) == .wrongType)
    }

    @Test("In introspection mode, an ID token or a logout token is rejected even if the issuer reports the token as active")
    func introspected() async throws {
        let client = AccessTokenVerifier.IntrospectionClient(id: "app", secret: "secret")
        let asking = AccessTokenVerifier(
            .init(issuer: TestIssuer.url, audience: "app", mode: .introspection(client)), fetcher: issuer, now: { TestIssuer.now })
        let active: [String: JSONValue] = ["active": true, "iss": .string(TestIssuer.url), "aud": "app", "exp": 1_750_000_100]
        for (claims, token) in [
            (["at_hash": "h"], "opaque"), (["nonce": "n", "client_id": "app"], "opaque"),
            (["events": ["http://schemas.openid.net/event/backchannel-logout": [:]]], "opaque"),
            (["scope": "openid"], try issuer.token(type: "logout+jwt")),
        ] as [([String: JSONValue], String)] {
            issuer.state.withLock { $0.introspection = .object(active.merging(claims) { $1 }) }
            #expect(await refusal { try await asking.verify(token) } == .wrongType, "\(claims)")
        }
        issuer.state.withLock { $0.introspection = .object(active) }
        #expect(await refusal { try await asking.verify("opaque") } == nil)
        #expect(await refusal { try await asking.verify(try issuer.token(type: "at+jwt")) } == nil)
    }
}
