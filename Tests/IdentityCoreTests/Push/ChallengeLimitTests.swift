import Foundation
import TestSupport
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import Store

@Suite("Limits of push challenges")
struct ChallengeLimitTests {
    private let org: PushFixture
    private let phone: Phone
    /// An address from which the user has never signed in.
    private let stranger = "203.0.113.66"

    init() async throws {
        org = try await PushFixture()
        phone = try await org.enroll()
    }

    private func isTooMany(_ result: Result<StartedChallenge, Refusal>) -> Bool {
        guard case .failure(let refusal) = result else { return false }
        return refusal.code == .invalidGrant && refusal.status == .tooManyRequests
    }

    @Test(
        "After five challenges of a password sign-in in five minutes without an approval, further challenges are rejected with 429 and invalid_grant"
    )
    func limit() async throws {
        for second in 0..<2 { _ = try await org.primary(at: 10 + Double(second), from: stranger).get() }
        let token = try await org.mfaToken(at: 20)
        for second in 21..<26 { _ = try await org.challenge(token, at: Double(second)).get() }
        #expect(isTooMany(try await org.challenge(token, at: 26)))
        #expect(isTooMany(try await org.primary(at: 27, from: stranger)))
        #expect(isTooMany(try await org.backchannel(at: 28)))
        #expect(try await org.pending(phone, at: 29).count == 3)
    }

    @Test(
        "An unknown origin can request two challenges without a proved factor, and a sign-in with the password can then request another challenge"
    )
    func unproved() async throws {
        for second in 0..<2 { _ = try await org.primary(at: 10 + Double(second), from: stranger).get() }
        #expect(isTooMany(try await org.primary(at: 12, from: stranger)))
        let token = try await org.mfaToken(at: 20)
        _ = try await org.challenge(token, at: 21).get()
    }

    @Test("After the challenge limit is reached, a challenge is allowed again when an earlier challenge is five minutes old")
    func window() async throws {
        for second in 0..<2 { _ = try await org.primary(at: 10 + Double(second), from: stranger).get() }
        #expect(isTooMany(try await org.primary(at: 309.9, from: stranger)))
        _ = try await org.primary(at: 310, from: stranger).get()
        #expect(isTooMany(try await org.primary(at: 310.9, from: stranger)))
    }

    @Test("An approved challenge does not count towards the challenge limit, and a denied challenge counts")
    func approvals() async throws {
        for second in 0..<8 {
            let now = 10 + Double(second)
            _ = try await org.primary(at: now, from: stranger).get()
            _ = try await org.answer(phone, at: now).get()
        }
        for second in 20..<22 {
            _ = try await org.primary(at: Double(second), from: stranger).get()
            _ = try await org.answer(phone, consent: "DENIED_CONSENT_PROMPT", at: Double(second)).get()
        }
        #expect(isTooMany(try await org.primary(at: 30, from: stranger)))
    }

    @Test("Cancelling a challenge does not reset the challenge limit")
    func cancelled() async throws {
        for second in 0..<2 {
            let code = try await org.primary(at: 10 + Double(second), from: stranger).get().secret()
            try await org.revoke(code, client: "one-factor-app", at: 10 + Double(second))
        }
        #expect(isTooMany(try await org.primary(at: 20, from: stranger)))
    }

    @Test("The challenge limit is separate for each user")
    func others() async throws {
        _ = try await org.enroll(PushFixture.john)
        for second in 0..<2 { _ = try await org.primary(at: 10 + Double(second), from: stranger).get() }
        _ = try await org.primary(PushFixture.john, at: 20, from: stranger).get()
    }

    @Test("The challenge limit holds for concurrent requests")
    func atOnce() async throws {
        let results = try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { [org, stranger] in try await org.primary(at: 10, from: stranger) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.filter { $0.refused == nil }.count == 2)
        #expect(results.filter(isTooMany).count == 18)
        #expect(try await org.pending(phone, at: 11).count == 2)
    }

    @Test("The challenge limit holds even if another request commits between the count and the commit of a request")
    func interrupted() async throws {
        let store = InterruptedStore(InMemoryStore())
        let org = try await PushFixture(store: store)
        _ = try await org.enroll()
        _ = try await org.primary(at: 10, from: stranger).get()
        store.beforeNextCommit { _ = try await org.primary(at: 20, from: stranger).get() }
        #expect(isTooMany(try await org.primary(at: 20, from: stranger)))
    }
}
