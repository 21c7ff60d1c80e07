import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints

@Suite("Refreshing tokens (Documentation/Protocol/OAuth.md §2.4.2 and §3.5)")
struct RefreshTokenTests {
    @Test("A refresh without scope returns the original scopes, an ID token without nonce, and a new refresh token")
    func plainRefresh() async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn().get()
        let second = try await organization.refresh(first.refreshToken, at: 600).get()
        #expect(second.scopes == first.scopes)
        #expect(second.refreshToken != nil)
        #expect(second.refreshToken != first.refreshToken)
        #expect(second.accessToken != first.accessToken)
        let before = try claims(of: first.idToken)
        let after = try claims(of: second.idToken)
        #expect(after["nonce"] == nil)
        #expect(after["auth_time"] == before["auth_time"])
        #expect(after["amr"] == before["amr"])
        #expect(after["sub"] == before["sub"])
        #expect(after["iat"] == 1_700_000_600)
        #expect(after["at_hash"] == .string(TokenIssuer.halfHash(of: second.accessToken)))
        let ids = try [first, second].map { try claims(of: $0.accessToken)["jti"]?.stringValue?.split(separator: ".").last }
        #expect(ids[0] == ids[1])
    }

    @Test("A refresh can request fewer scopes, and the next refresh gets all scopes again")
    func narrowing() async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn("openid messages.read offline_access").get()
        let second = try await organization.refresh(first.refreshToken, scope: "messages.read", at: 60).get()
        #expect(second.scopes == ["messages.read"])
        #expect(second.idToken == nil)
        #expect(try claims(of: second.accessToken)["scp"] == ["messages.read"])
        let third = try await organization.refresh(second.refreshToken, at: 120).get()
        #expect(third.scopes == ["openid", "messages.read", "offline_access"])
    }

    @Test("A refresh for scopes beyond the original grant gets invalid_scope and does not consume the refresh token")
    func widening() async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn("openid offline_access").get()
        let refused = try await organization.refresh(first.refreshToken, scope: "openid messages.write", at: 60)
        #expect(refused.refused == .invalidScope)
        #expect(try await organization.refresh(first.refreshToken, at: 61).refused == nil)
    }

    @Test("An unknown refresh token and a token of another client or server get the same invalid_grant response")
    func foreignTokens() async throws {
        let organization = try await TestOrganization()
        let token = try await organization.signIn().get().refreshToken
        let results = [
            try await organization.refresh("rt_unknown", at: 1), try await organization.refresh(token, client: "other-app", at: 1),
            try await organization.refresh(token, server: nil, at: 1),
        ]
        #expect(results.map(\.refused) == [.invalidGrant, .invalidGrant, .invalidGrant])
        #expect(results.map(\.reason) == ["refresh.unknown", "refresh.other_client", "refresh.other_server"])
        #expect(Set(results.compactMap { if case .failure(let refusal) = $0 { refusal.description } else { nil } }).count == 1)
        #expect(try await organization.refresh(token, at: 2).refused == nil)
    }

    // MARK: - Rotation

    @Test(
        "A refresh retry within the leeway returns a new refresh token, and invalidates the unused token of the previous attempt",
        arguments: [0.0, 1, 30])
    func retryWithinLeeway(after seconds: Double) async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn().get().refreshToken
        let lost = try await organization.refresh(first, at: 60).get().refreshToken
        let kept = try await organization.refresh(first, at: 60 + seconds).get().refreshToken
        #expect(lost != kept)
        #expect(try await organization.introspect(lost, at: 60 + seconds).isActive == false)
        #expect(try await organization.introspect(kept, at: 60 + seconds).isActive)
        #expect(try await organization.refresh(kept, at: 200).refused == nil)
    }

    @Test("Each refresh retry within the leeway succeeds, and only the token of the last retry is valid")
    func severalRetries() async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn().get().refreshToken
        var given: [String?] = []
        for second in 0..<5 {
            given.append(try await organization.refresh(first, at: 60 + Double(second)).get().refreshToken)
        }
        var live = 0
        for token in given where try await organization.introspect(token, at: 70).isActive { live += 1 }
        #expect(live == 1)
        #expect(try await organization.introspect(given[4], at: 70).isActive)
    }

    @Test("The leeway for refresh retries starts at the first use of the token, and a retry does not extend the leeway")
    func leewayCountsOnce() async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn().get().refreshToken
        for time in [60.0, 85] { _ = try await organization.refresh(first, at: time).get() }
        #expect(try await organization.refresh(first, at: 91).reason == "refresh.reused")
    }

    @Test("With a leeway of zero, a refresh retry one millisecond later is rejected as reuse")
    func noLeeway() async throws {
        let organization = try await TestOrganization { $0.applications[0].refreshTokenRotation = .rotate(leeway: 0) }
        let first = try await organization.signIn().get().refreshToken
        #expect(try await organization.refresh(first, at: 60).refused == nil)
        #expect(try await organization.refresh(first, at: 60.001).reason == "refresh.reused")
    }

    @Test("Reuse of a refresh token after the leeway revokes its token family and every access token of the grant")
    func reuseAfterLeeway() async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn().get()
        let second = try await organization.refresh(first.refreshToken, at: 60).get()
        let reused = try await organization.refresh(first.refreshToken, at: 90.01)
        #expect(reused.refused == .invalidGrant)
        #expect(reused.reason == "refresh.reused")
        #expect(try await organization.refresh(second.refreshToken, at: 91).refused == .invalidGrant)
        for token in [first.accessToken, second.accessToken, second.refreshToken] {
            #expect(try await organization.introspect(token, at: 91).json == ["active": false])
        }
        #expect(try await organization.log().contains { $0.type == "token.grant.refresh_token" && $0.reason == "refresh.reused" })
    }

    @Test("The use of a refresh token that a retry has replaced revokes the token family")
    func retiredSuccessor() async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn().get().refreshToken
        let retired = try await organization.refresh(first, at: 60).get().refreshToken
        let kept = try await organization.refresh(first, at: 65).get().refreshToken
        #expect(try await organization.refresh(retired, at: 600).refused == .invalidGrant)
        #expect(try await organization.refresh(kept, at: 601).refused == .invalidGrant)
    }

    @Test("A refresh retry within the leeway is rejected if the successor token was already used, and no token is revoked")
    func lateCopy() async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn().get().refreshToken
        let second = try await organization.refresh(first, at: 60).get().refreshToken
        let third = try await organization.refresh(second, at: 62).get().refreshToken
        let late = try await organization.refresh(first, at: 64)
        #expect(late.reason == "refresh.successor_used")
        #expect(try await organization.refresh(third, at: 300).refused == nil)
    }

    @Test("Twelve concurrent refreshes with the same token leave exactly one valid refresh token")
    func concurrentRefreshes() async throws {
        let organization = try await TestOrganization()
        let first = try await organization.signIn().get().refreshToken
        let given = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<12 {
                group.addTask { try await organization.refresh(first, at: 60).get().refreshToken }
            }
            return try await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(Set(given).count == 12)
        var live: [String?] = []
        for token in given where try await organization.introspect(token, at: 61).isActive { live.append(token) }
        #expect(live.count == 1)
        #expect(try await organization.refresh(live.first ?? nil, at: 62).refused == nil)
    }

    @Test("A refresh extends the idle expiry of the refresh token, but not its absolute expiry")
    func ends() async throws {
        let day = 86400.0
        let organization = try await TestOrganization {
            $0.authorizationServers[1].accessPolicies[0].rules[0].refreshTokenLifetime = Int(10 * day)
            $0.authorizationServers[1].accessPolicies[0].rules[0].refreshTokenIdleLifetime = Int(4 * day)
        }
        let idle = try await organization.signIn().get().refreshToken
        #expect(try await organization.refresh(idle, at: 4 * day).reason == "refresh.expired")
        var token = try await organization.signIn().get().refreshToken
        for time in [3 * day, 6 * day, 9 * day] { token = try await organization.refresh(token, at: time).get().refreshToken }
        #expect(try await organization.introspect(token, at: 9 * day).json["exp"] == .integer(1_700_000_000 + Int64(10 * day)))
        #expect(try await organization.refresh(token, at: 10 * day).reason == "refresh.expired")
    }

    @Test("A refresh extends the grant's record beyond the expiry of the newest refresh token and access token")
    func recordOutlives() async throws {
        let day = 86400.0
        let organization = try await TestOrganization { $0.authorizationServers[1].accessPolicies[0].rules[0].refreshTokenLifetime = nil }
        var token = try await organization.signIn().get().refreshToken
        for week in 1...6 {
            let now = Double(week) * 6.9 * day
            token = try await organization.refresh(token, at: now).get().refreshToken
            let grant = try #require(try await organization.grants().first)
            #expect(grant.expiresAt >= TestOrganization.time(now + 7 * day + 3600))
        }
    }

    // MARK: - Static tokens

    @Test("A static refresh token is returned unchanged, also by concurrent refreshes, and each use extends its idle expiry")
    func staticToken() async throws {
        let day = 86400.0
        let organization = try await TestOrganization()
        let token = try await organization.signIn(client: "static-app").get().refreshToken
        for time in [1.0, 2, 6 * day, 12 * day] {
            let response = try await organization.refresh(token, client: "static-app", at: time).get()
            #expect(response.refreshToken == token)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask { _ = try await organization.refresh(token, client: "static-app", at: 13 * day).get() }
            }
            try await group.waitForAll()
        }
        #expect(try await organization.introspect(token, at: 19.9 * day).isActive)
        #expect(try await organization.introspect(token, at: 20 * day).isActive == false)
        #expect(try await organization.refresh(token, client: "static-app", at: 20 * day).reason == "refresh.idle")
    }

    @Test("A static refresh token expires at the absolute expiry of its family, even if it is used")
    func staticTokenEnds() async throws {
        let organization = try await TestOrganization()
        let day = 86400.0
        let token = try await organization.signIn(client: "static-app").get().refreshToken
        for time in stride(from: 6 * day, to: 30 * day, by: 6 * day) {
            _ = try await organization.refresh(token, client: "static-app", at: time).get()
        }
        #expect(try await organization.refresh(token, client: "static-app", at: 30 * day).reason == "refresh.expired")
    }

    // MARK: - The user

    @Test("A password change revokes the user's earlier grants, but no later grants")
    func passwordChange() async throws {
        let organization = try await TestOrganization()
        let old = try await organization.signIn().get()
        let user = try #require(try await organization.janesID())
        _ = try await organization.engine.setPassword(
            userID: user, to: "Another-Horse-8", context: TestOrganization.context(TestOrganization.time(10)))
        #expect(try await organization.refresh(old.refreshToken, at: 11).refused == .invalidGrant)
        #expect(try await organization.introspect(old.accessToken, at: 11).isActive == false)
        #expect(try await organization.userInfo(old.accessToken, at: 11).refused == .invalidToken)
        let new = try await organization.signIn(at: 12, ["password": "Another-Horse-8"]).get()
        #expect(try await organization.refresh(new.refreshToken, at: 13).refused == nil)
    }

    @Test(
        "A password change revokes earlier grants, even if the clock of the changing server differs by one second",
        arguments: [-1.0, 0, 1])
    func passwordChangeByAnotherClock(offset: TimeInterval) async throws {
        let organization = try await TestOrganization()
        let user = try #require(try await organization.janesID())
        let old = try await organization.signIn(at: 10).get()
        let context = TestOrganization.context(TestOrganization.time(10 + offset))
        _ = try await organization.engine.setPassword(userID: user, to: "Another-Horse-8", context: context)
        #expect(try await organization.refresh(old.refreshToken, at: 12).refused == .invalidGrant)
        #expect(try await organization.introspect(old.accessToken, at: 12).isActive == false)
        // Tokens of the new grant are valid even if the clock is set back.
        let new = try await organization.signIn(at: 9, ["password": "Another-Horse-8"]).get()
        #expect(try await organization.refresh(new.refreshToken, at: 13).refused == nil)
    }

    @Test("Deactivating a user revokes earlier grants, even if the clock of the deactivating server is one second behind")
    func deactivationByAnotherClock() async throws {
        let organization = try await TestOrganization()
        let user = try #require(try await organization.janesID())
        let old = try await organization.signIn(at: 10).get()
        for status in [User.Status.deactivated, .active] {
            _ = try await organization.engine.setStatus(
                userID: user, to: status, context: TestOrganization.context(TestOrganization.time(9)))
        }
        #expect(try await organization.refresh(old.refreshToken, at: 12).refused == .invalidGrant)
        #expect(try await organization.signIn(at: 9).refused == nil)
    }

    @Test(
        "Tokens of a deactivated or suspended user are rejected immediately, and reactivation restores the grant only after a suspension",
        arguments: [User.Status.deactivated, .suspended])
    func deactivation(status: User.Status) async throws {
        let organization = try await TestOrganization()
        let tokens = try await organization.signIn().get()
        let user = try #require(try await organization.janesID())
        _ = try await organization.engine.setStatus(userID: user, to: status, context: TestOrganization.context(TestOrganization.time(10)))
        #expect(try await organization.refresh(tokens.refreshToken, at: 11).refused == .invalidGrant)
        for token in [tokens.accessToken, tokens.idToken, tokens.refreshToken] {
            #expect(try await organization.introspect(token, at: 11).isActive == false)
        }
        // A deactivation revokes grants permanently. A suspension makes them invalid only while it lasts.
        _ = try await organization.engine.setStatus(userID: user, to: .active, context: TestOrganization.context(TestOrganization.time(20)))
        #expect(try await organization.refresh(tokens.refreshToken, at: 21).refused == (status == .deactivated ? .invalidGrant : nil))
        #expect(try await organization.signIn(at: 22).refused == nil)
    }

    @Test("A user who is no longer assigned to the application cannot refresh tokens")
    func unassigned() async throws {
        let organization = try await TestOrganization()
        let token = try await organization.signIn().get().refreshToken
        var changed = TestOrganization.definition
        for index in changed.applications.indices { changed.applications[index].assignment = .init(groups: ["managers"]) }
        changed.groups.append(Group(name: "managers"))
        _ = try await organization.engine.apply(changed, context: TestOrganization.context(TestOrganization.time(5)))
        #expect(try await organization.refresh(token, at: 6).reason == "user.not_assigned")
    }
}
