import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints

@Suite("Revocation (RFC 7009, Documentation/Protocol/OAuth.md §2.10)")
struct RevocationTests {
    @Test("Revoking an access token revokes only that token")
    func accessToken() async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn().get()
        let second = try await organization.refresh(first.refreshToken, at: 0.5).get()
        try await organization.revoke(first.accessToken)
        #expect(try await organization.introspect(first.accessToken).json == ["active": false])
        #expect(try await organization.userInfo(first.accessToken).refused == .invalidToken)
        #expect(try await organization.introspect(second.accessToken).isActive)
        #expect(try await organization.introspect(second.idToken).isActive)
        #expect(try await organization.refresh(second.refreshToken, at: 2).refused == nil)
    }

    @Test("Revoking a refresh token revokes its token family and the access tokens of the grant")
    func refreshToken() async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn().get()
        let second = try await organization.refresh(first.refreshToken, at: 0.5).get()
        try await organization.revoke(second.refreshToken)
        for token in [first.accessToken, second.accessToken, second.refreshToken] {
            #expect(try await organization.introspect(token).isActive == false)
        }
        #expect(try await organization.refresh(second.refreshToken, at: 2).refused == .invalidGrant)
        #expect(try await organization.log().contains { $0.type == "token.revoke.refresh_token" && $0.outcome == .success })
    }

    @Test("Revoking an already rotated refresh token revokes its token family")
    func replacedToken() async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn().get()
        let second = try await organization.refresh(first.refreshToken, at: 0.5).get()
        try await organization.revoke(first.refreshToken)
        #expect(try await organization.refresh(second.refreshToken, at: 2).refused == .invalidGrant)
    }

    @Test("Revoking a refresh token keeps the other grants of the same user")
    func otherGrants() async throws {
        let organization = try await TestOrganization()
        let one = try await organization.signIn().get()
        let two = try await organization.signIn().get()
        try await organization.revoke(one.refreshToken)
        #expect(try await organization.refresh(two.refreshToken, at: 2).refused == nil)
    }

    @Test("Revoking an unknown token, an ID token or a token of another client or server succeeds without effect")
    func foreignTokens() async throws {
        let organization = try await TestOrganization()
        let tokens = try await organization.signIn().get()
        for token in [tokens.accessToken, tokens.refreshToken] {
            try await organization.revoke(token, client: "other-app")
            try await organization.revoke(token, server: nil)
        }
        for token in ["unknown", "a.b.c", tokens.idToken] { try await organization.revoke(token) }
        #expect(try await organization.introspect(tokens.accessToken).isActive)
        #expect(try await organization.introspect(tokens.refreshToken).isActive)
        #expect(try await organization.introspect(tokens.idToken).isActive)
    }

    @Test("Concurrent and repeated revocations of all tokens of a sign-in succeed")
    func concurrent() async throws {
        let organization = try await TestOrganization()
        let tokens = try await organization.signIn().get()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for token in [tokens.accessToken, tokens.refreshToken, tokens.accessToken, tokens.refreshToken, tokens.idToken] {
                group.addTask { try await organization.revoke(token) }
            }
            try await group.waitForAll()
        }
        #expect(try await organization.introspect(tokens.accessToken).isActive == false)
        #expect(try await organization.introspect(tokens.refreshToken).isActive == false)
    }

    @Test("If a refresh and a revocation run concurrently, no valid access or refresh token remains")
    func race() async throws {
        let organization = try await TestOrganization()
        let tokens = try await organization.signIn().get()
        async let refreshed = organization.refresh(tokens.refreshToken, at: 1)
        async let revoked: Void = organization.revoke(tokens.refreshToken)
        _ = try await revoked
        // ID tokens are not revoked.
        var all = [tokens.accessToken, tokens.refreshToken]
        switch try await refreshed {
        case .success(let late): all += [late.accessToken, late.refreshToken]
        case .failure(let refusal): #expect(refusal.code == .invalidGrant && refusal.reason == "refresh.revoked")
        }
        #expect(!all.contains(nil))
        for token in all { #expect(try await organization.introspect(token).isActive == false) }
        #expect(try await organization.refresh(tokens.refreshToken, at: 2).reason == "refresh.revoked")
    }

    @Test("Revoking all grants of a user revokes the tokens of every client, and a repetition revokes nothing")
    func allGrants() async throws {
        let organization = try await TestOrganization()
        let one = try await organization.signIn().get()
        let two = try await organization.signIn(client: "other-app").get()
        let user = try #require(try await organization.janesID())
        let context = TestOrganization.context(TestOrganization.time(1))
        #expect(try await organization.engine.revokeAllGrants(ofUser: user, context: context) == 2)
        #expect(try await organization.engine.revokeAllGrants(ofUser: user, context: context) == 0)
        #expect(try await organization.introspect(one.refreshToken).isActive == false)
        #expect(try await organization.introspect(two.accessToken).isActive == false)
    }

    @Test("The list of revoked access tokens contains every revoked token, is decoded unchanged, and drops expired tokens")
    func bounded() {
        var revoked = RevokedTokens()
        for number in 0..<100 { revoked.insert("AT.\(number)", issuedAt: number * 10, expiresAt: 5000, now: 0) }
        for number in 0..<100 { #expect(revoked.contains("AT.\(number)", issuedAt: number * 10)) }
        #expect(!revoked.contains("AT.new", issuedAt: 995))
        let stored = RevokedTokens(revoked.json)
        #expect(stored == revoked)
        revoked.insert("AT.last", issuedAt: 5000, expiresAt: 9000, now: 5000)
        #expect(revoked.json?["tokens"]?.arrayValue?.count == 1)
    }
}
