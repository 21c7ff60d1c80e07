import Foundation
import TestSupport
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import Store

/// Checks the number of reads and commits of sign-ins, token requests, introspection, revocation and user info.
@Suite("Reads and commits of token requests", .serialized)
struct RequestCostTests {
    private let cost = RequestCost()
    private let org: PushFixture

    init() async throws {
        org = try await PushFixture(store: cost.store)
    }

    @Test("A one-factor password grant makes one read and one commit for a correct password, a wrong password and an unknown name")
    func password() async throws {
        for _ in 0..<2 {
            let tokens = try await cost.expect { try await org.signIn(client: "one-factor-app") }
            #expect((try? tokens.get()) != nil)
        }
        try await cost.expect { try await org.signIn(client: "one-factor-app", ["password": "wrong"]) }
        try await cost.expect {
            try await org.signIn("unknown@example.com", client: "one-factor-app", ["password": "wrong"])
        }
    }

    @Test("After too many wrong passwords, a correct password makes one read and one commit, as a wrong password does")
    func closedPassword() async throws {
        let id = try await org.userID()
        let stored = try #require(try await cost.store.read { try $0.record(.user, id: id).map(StoredUser.init) })
        var user = stored.value
        user.failedAttempts = FailureCounts.most
        _ = try await cost.store.commit([.put(try stored.record(holding: user))])
        for more in [["password": "wrong"], [:]] {
            #expect(try await cost.expect { try await org.signIn(at: 60, more) }.refused == .invalidGrant)
        }
    }

    @Test("In a sign-in with password and push, only the password request makes two reads, and only a pending poll makes no commit")
    func push() async throws {
        let phone = try await org.enroll()
        // The second read loads the user's factors. Only a correct password may cause it.
        let mfaToken = try await cost.expect(reads: 2) { try await org.mfaToken() }
        let code = try await cost.expect { try await org.challenge(mfaToken).get().secret() }
        let pending = try await cost.expect(commits: 0) { try await org.poll(mfaToken, code, at: 12) }
        #expect(pending.refused == .authorizationPending)
        let challenge = try await org.newest(phone, at: 13)
        let answer = try PushFixture.sign(phone, challenge, at: 13)
        try await cost.expect { _ = try await org.send(answer, at: 13).get() }
        try await cost.expect { _ = try await org.poll(mfaToken, code, at: 20).get() }
    }

    @Test("A push request as first factor and a back-channel request make one read and one commit each")
    func firstFactor() async throws {
        _ = try await org.enroll()
        try await cost.expect { _ = try await org.primary().get() }
        try await cost.expect { _ = try await org.backchannel().get() }
    }

    @Test("Refresh and revocation make one read and one commit each; introspection and user info make one read each")
    func tokens() async throws {
        let tokens = try await org.signIn(scope: "openid offline_access", client: "one-factor-app").get()
        let refreshed = try await cost.expect {
            try await org.token(
                ["grant_type": "refresh_token", "refresh_token": tokens.refreshToken ?? ""], client: "one-factor-app", at: 11
            ).get()
        }
        let question = TokenRequest(
            server: "default", client: TestOrganization.service, parameters: ["token": refreshed.accessToken])
        let found = try await cost.expect(commits: 0) {
            try await org.engine.introspect(question, context: PushFixture.context(12)).get()
        }
        #expect(found.isActive)
        try await cost.expect(commits: 0) {
            _ = try await org.engine.userInfo(accessToken: refreshed.accessToken, server: "default", context: PushFixture.context(12)).get()
        }
        try await cost.expect { try await org.revoke(refreshed.refreshToken ?? "", client: "one-factor-app") }
    }

    @Test("A client_credentials grant with a cached configuration makes no read and one commit")
    func clientCredentials() async throws {
        let request = TokenRequest(
            server: "default", client: TestOrganization.service,
            parameters: ["grant_type": "client_credentials", "scope": "messages.read"])
        try await cost.expect(reads: 0) { _ = try await org.engine.token(request, context: PushFixture.context(10)).get() }
    }
}
