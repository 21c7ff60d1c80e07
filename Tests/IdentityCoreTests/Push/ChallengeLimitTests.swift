import Foundation
import TestSupport
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import Store

@Suite("How often a person's phones are asked")
struct ChallengeLimitTests {
    private let org: PushFixture
    private let phone: Phone
    /// An address that the user has never signed in from.
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
        "After five challenges in five minutes that a user who knows the password did not approve, the sixth is refused with 429 and invalid_grant."
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

    @Test("twice at the most for who has proved nothing, so that the person who knows the password still gets through")
    func unproved() async throws {
        for second in 0..<2 { _ = try await org.primary(at: 10 + Double(second), from: stranger).get() }
        #expect(isTooMany(try await org.primary(at: 12, from: stranger)))
        let token = try await org.mfaToken(at: 20)
        _ = try await org.challenge(token, at: 21).get()
    }

    @Test("again when five minutes are over")
    func window() async throws {
        for second in 0..<2 { _ = try await org.primary(at: 10 + Double(second), from: stranger).get() }
        #expect(isTooMany(try await org.primary(at: 309.9, from: stranger)))
        _ = try await org.primary(at: 310, from: stranger).get()
        #expect(isTooMany(try await org.primary(at: 310.9, from: stranger)))
    }

    @Test("an approval takes nothing from it, a denial does")
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

    @Test("cancelling does not make room")
    func cancelled() async throws {
        for second in 0..<2 {
            let code = try await org.primary(at: 10 + Double(second), from: stranger).get().secret()
            try await org.revoke(code, client: "one-factor-app", at: 10 + Double(second))
        }
        #expect(isTooMany(try await org.primary(at: 20, from: stranger)))
    }

    @Test("one person's limit is not another's")
    func others() async throws {
        _ = try await org.enroll(PushFixture.john)
        for second in 0..<2 { _ = try await org.primary(at: 10 + Double(second), from: stranger).get() }
        _ = try await org.primary(PushFixture.john, at: 20, from: stranger).get()
    }

    @Test("also when many are asked for at once")
    func atOnce() async throws {
        let results = try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { [org, stranger] in try await org.primary(at: 10, from: stranger) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.filter { $0.refused == nil }.count == 2)
        #expect(results.filter(isTooMany).count == 18)
        #expect(try await org.pending(phone, at: 11).count == 2)
    }

    @Test("also when one comes between another's count and its commit")
    func interrupted() async throws {
        let store = InterruptedStore(InMemoryStore())
        let org = try await PushFixture(store: store)
        _ = try await org.enroll()
        _ = try await org.primary(at: 10, from: stranger).get()
        store.beforeNextCommit { _ = try await org.primary(at: 20, from: stranger).get() }
        #expect(isTooMany(try await org.primary(at: 20, from: stranger)))
    }
}
