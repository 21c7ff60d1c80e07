import Foundation
import TestSupport
import Testing

@testable import IdentityEngine

@Suite("How often a person's phones are asked")
struct ChallengeLimitTests {
    private let org: PushFixture
    private let phone: Phone

    init() async throws {
        org = try await PushFixture()
        phone = try await org.enroll()
    }

    private func isTooMany(_ result: Result<StartedChallenge, Refusal>) -> Bool {
        guard case .failure(let refusal) = result else { return false }
        return refusal.code == .invalidGrant && refusal.status == .tooManyRequests
    }

    @Test("five times in five minutes without an approval; the sixth is refused with 429 and invalid_grant, at each endpoint")
    func limit() async throws {
        for second in 0..<2 { _ = try await org.primary(at: 10 + Double(second)).get() }
        let token = try await org.mfaToken(at: 20)
        for second in 21..<24 { _ = try await org.challenge(token, at: Double(second)).get() }
        #expect(isTooMany(try await org.challenge(token, at: 24)))
        #expect(isTooMany(try await org.primary(at: 25)))
        #expect(isTooMany(try await org.backchannel(at: 26)))
        #expect(try await org.pending(phone, at: 27).count == 3)
    }

    @Test("twice at the most for who has proved nothing, so that the person who knows the password still gets through")
    func unproved() async throws {
        for second in 0..<2 { _ = try await org.primary(at: 10 + Double(second)).get() }
        #expect(isTooMany(try await org.primary(at: 12)))
        let token = try await org.mfaToken(at: 20)
        _ = try await org.challenge(token, at: 21).get()
    }

    @Test("again when five minutes are over")
    func window() async throws {
        for second in 0..<2 { _ = try await org.primary(at: 10 + Double(second)).get() }
        #expect(isTooMany(try await org.primary(at: 309.9)))
        _ = try await org.primary(at: 310).get()
        #expect(isTooMany(try await org.primary(at: 310.9)))
    }

    @Test("an approval takes nothing from it, a denial does")
    func approvals() async throws {
        for second in 0..<8 {
            let now = 10 + Double(second)
            _ = try await org.primary(at: now).get()
            _ = try await org.answer(phone, at: now).get()
        }
        for second in 20..<22 {
            _ = try await org.primary(at: Double(second)).get()
            _ = try await org.answer(phone, consent: "DENIED_CONSENT_PROMPT", at: Double(second)).get()
        }
        #expect(isTooMany(try await org.primary(at: 30)))
    }

    @Test("cancelling does not make room")
    func cancelled() async throws {
        for second in 0..<2 {
            let code = try await org.primary(at: 10 + Double(second)).get().secret()
            try await org.revoke(code, client: "one-factor-app", at: 10 + Double(second))
        }
        #expect(isTooMany(try await org.primary(at: 20)))
    }

    @Test("one person's limit is not another's")
    func others() async throws {
        _ = try await org.enroll(PushFixture.john)
        for second in 0..<2 { _ = try await org.primary(at: 10 + Double(second)).get() }
        _ = try await org.primary(PushFixture.john, at: 20).get()
    }

    @Test("also when many are asked for at once")
    func atOnce() async throws {
        let results = try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { [org] in try await org.primary(at: 10) } }
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
        _ = try await org.primary(at: 10).get()
        store.beforeNextCommit { _ = try await org.primary(at: 20).get() }
        #expect(isTooMany(try await org.primary(at: 20)))
    }
}
