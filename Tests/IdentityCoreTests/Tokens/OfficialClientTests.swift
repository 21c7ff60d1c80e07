import Crypto
import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints

/// The ID token checks of the official client, in the order of that client. They follow the table in Documentation/Protocol/OAuth.md §7.4.
private struct OfficialClient {
    var issuer: String
    var clientID: String
    var keys: JSONWebKeySet
    var now: Double
    var maxAge: Int?

    /// Returns the name of the first check that fails; `nil` if the token is accepted.
    func rejects(_ token: String, accessToken: String) throws -> String? {
        let signature = try JSONWebSignature(parsing: token)
        let claims = try JSONValue(parsing: signature.payload)
        guard claims["iss"] == .string(issuer) else { return "invalidIssuer" }
        guard claims["aud"]?.stringValue == clientID else { return "invalidAudience" }
        guard issuer.hasPrefix("https://") else { return "issuerRequiresHTTPS" }
        guard signature.header["alg"] == "RS256" else { return "unsupportedAlgorithm" }
        guard case .integer(let expires) = claims["exp"], Double(expires) > now else { return "expired" }
        guard case .integer(let issued) = claims["iat"], abs(Double(issued) - now) <= 300 else { return "issuedAtTimeExceedsGraceInterval" }
        guard claims["nonce"] == nil else { return "nonceMismatch" }
        guard case .integer(let authenticated) = claims["auth_time"] else { return "invalidAuthenticationTime" }
        if let maxAge {
            guard issued - authenticated > 0 else { return "invalidAuthenticationTime" }
            guard issued - authenticated <= maxAge else { return "exceedsMaxAge" }
        }
        guard let subject = claims["sub"]?.stringValue, !subject.isEmpty else { return "invalidSubject" }
        let hash = Base64URL.encode(Array(SHA256.hash(data: Array(accessToken.utf8))).prefix(16))
        guard claims["at_hash"] == .string(hash) else { return "signatureInvalid: at_hash" }
        guard let id = signature.header["kid"]?.stringValue, let key = keys[keyID: id] else { return "invalidKey" }
        do {
            try signature.verify(with: VerificationKey(key, algorithm: .rs256))
            return nil
        } catch {
            return "signatureInvalid"
        }
    }
}

@Suite("Requirements of the official client (Documentation/Protocol/OAuth.md §10, on tokens)")
struct OfficialClientTests {
    private func client(_ organization: TestOrganization, server: String?, at seconds: Double, maxAge: Int? = nil) async throws
        -> OfficialClient
    {
        let snapshot = try await organization.engine.snapshot()
        let definition = try #require(snapshot.server(server))
        let now = TestOrganization.time(seconds)
        return OfficialClient(
            issuer: snapshot.issuer(of: definition), clientID: "password-app", keys: snapshot.keyRing.publishedKeys(now: now),
            now: now.timeIntervalSince1970, maxAge: maxAge)
    }

    @Test(
        "The official client's checks accept the ID tokens of a sign-in and a refresh at the org server and a custom server (OAuth.md §10.5)",
        arguments: [nil, "default"])
    func idTokens(server: String?) async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn(server: server).get()
        let token = try #require(first.idToken)
        #expect(try await client(organization, server: server, at: 0, maxAge: 1).rejects(token, accessToken: first.accessToken) == nil)
        let second = try await organization.refresh(first.refreshToken, server: server, at: 3000).get()
        let refreshed = try #require(second.idToken)
        #expect(try await client(organization, server: server, at: 3000).rejects(refreshed, accessToken: second.accessToken) == nil)
        // The test also checks that each of the checks can fail.
        #expect(
            try await client(organization, server: server, at: 0).rejects(token, accessToken: second.accessToken)
                == "signatureInvalid: at_hash")
        #expect(try await client(organization, server: server, at: 3600).rejects(token, accessToken: first.accessToken) == "expired")
    }

    @Test("ID tokens are signed with RS256 even if access tokens are signed with ES256 (OAuth.md §10.5)")
    func mixedAlgorithms() async throws {
        let organization = try await TestOrganization { $0.authorizationServers[1].accessTokenAlgorithm = .es256 }
        let response = try await organization.signIn().get()
        #expect(try JSONWebSignature(parsing: response.accessToken).algorithm == .es256)
        let token = try #require(response.idToken)
        #expect(try await client(organization, server: "default", at: 0).rejects(token, accessToken: response.accessToken) == nil)
    }

    @Test("Each published key is RSA or EC with kid, use and alg, and no private member (OAuth.md §10.4)")
    func keys() async throws {
        let organization = try await TestOrganization { $0.authorizationServers[1].accessTokenAlgorithm = .es256 }
        let set = try await organization.engine.snapshot().keyRing.publishedKeys(now: TestOrganization.start).json()
        for key in try #require(set["keys"]?.arrayValue) {
            let names = Set(try #require(key.objectValue).keys)
            #expect(
                names == (key["kty"] == "RSA" ? ["kty", "kid", "use", "alg", "n", "e"] : ["kty", "kid", "use", "alg", "crv", "x", "y"]))
            #expect(key["use"] == "sig")
        }
    }

    @Test("The expires_in of a token response is greater than 300 (OAuth.md §10.6)")
    func lifetime() async throws {
        let organization = try await TestOrganization()
        #expect(try await organization.signIn().get().expiresIn > 300)
        #expect(AccessPolicyEvaluation.Lifetimes.ofOrganization.accessToken > 300)
    }

    @Test("A refresh without scope returns the original scopes and an ID token without nonce (OAuth.md §10.15)")
    func refresh() async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn("offline_access profile openid").get()
        let second = try await organization.refresh(first.refreshToken, at: 10).get()
        #expect(second.scopes == ["offline_access", "profile", "openid"])
        #expect(try claims(of: second.idToken)["nonce"] == nil)
    }

    @Test("Concurrent revocations of an access token, a refresh token and an unknown token succeed (OAuth.md §10.16)")
    func revocation() async throws {
        let organization = try await TestOrganization()
        let tokens = try await organization.signIn().get()
        async let access: Void = organization.revoke(tokens.accessToken)
        async let refresh: Void = organization.revoke(tokens.refreshToken)
        async let unknown: Void = organization.revoke("unknown")
        _ = try await (access, refresh, unknown)
        #expect(try await organization.introspect(tokens.accessToken).isActive == false)
        #expect(try await organization.introspect(tokens.refreshToken).isActive == false)
        #expect(try await organization.refresh(tokens.refreshToken, at: 2).reason == "refresh.revoked")
    }

    @Test("The access token has the audience api://default, cid, uid, scp, and the login as sub (OAuth.md §10.20)")
    func accessToken() async throws {
        let organization = try await TestOrganization()
        let response = try await organization.signIn().get()
        let claims = try claims(of: response.accessToken)
        #expect(claims["aud"] == "api://default")
        #expect(claims["cid"] == "password-app")
        #expect(claims["scp"] == JSONValue(response.scopes))
        #expect(claims["sub"] == "jane.doe@example.com")
        #expect(claims["uid"] == (try IdentityCoreTests.claims(of: response.idToken)["sub"]))
    }
}
