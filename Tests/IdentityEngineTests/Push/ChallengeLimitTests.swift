import Foundation
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
        for second in 0..<3 { _ = try await org.primary(at: 10 + Double(second)).get() }
        let token = try await org.mfaToken(at: 20)
        _ = try await org.challenge(token, at: 21).get()
        _ = try await org.challenge(token, at: 22).get()
        #expect(isTooMany(try await org.challenge(token, at: 23)))
        #expect(isTooMany(try await org.primary(at: 24)))
        #expect(isTooMany(try await org.backchannel(at: 25)))
        #expect(try await org.pending(phone, at: 26).count == 4)
    }

    @Test("again when five minutes are over")
    func window() async throws {
        for second in 0..<5 { _ = try await org.primary(at: 10 + Double(second)).get() }
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
        for second in 20..<25 {
            _ = try await org.primary(at: Double(second)).get()
            _ = try await org.answer(phone, consent: "DENIED_CONSENT_PROMPT", at: Double(second)).get()
        }
        #expect(isTooMany(try await org.primary(at: 30)))
    }

    @Test("cancelling does not make room")
    func cancelled() async throws {
        for second in 0..<5 {
            let code = try await org.primary(at: 10 + Double(second)).get().secret()
            try await org.revoke(code, client: "one-factor-app", at: 10 + Double(second))
        }
        #expect(isTooMany(try await org.primary(at: 20)))
    }

    @Test("one person's limit is not another's")
    func others() async throws {
        _ = try await org.enroll(PushFixture.john)
        for second in 0..<5 { _ = try await org.primary(at: 10 + Double(second)).get() }
        _ = try await org.primary(PushFixture.john, at: 20).get()
    }

    @Test("also when many are asked for at once")
    func atOnce() async throws {
        let results = try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { [org] in try await org.primary(at: 10) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.filter { $0.refused == nil }.count == 5)
        #expect(results.filter(isTooMany).count == 15)
        #expect(try await org.pending(phone, at: 11).count == 5)
    }

    @Test("also when one comes between another's count and its commit")
    func interrupted() async throws {
        let store = InterruptedStore(InMemoryStore())
        let org = try await PushFixture(store: store)
        _ = try await org.enroll()
        for second in 0..<4 { _ = try await org.primary(at: 10 + Double(second)).get() }
        store.beforeNextCommit { _ = try await org.primary(at: 20).get() }
        #expect(isTooMany(try await org.primary(at: 20)))
    }
}
