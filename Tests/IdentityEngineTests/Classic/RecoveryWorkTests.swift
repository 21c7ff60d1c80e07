import Foundation
import Synchronization
import Testing

@testable import IdentityEngine

/// Counts what an engine asks of its store.
private final class CountingStore: Store {
    private let inner: any Store
    private let counts = Mutex((reads: 0, commits: 0))

    init(_ inner: any Store) { self.inner = inner }

    /// What was asked since the last time.
    func take() -> [Int] {
        counts.withLock { counts in
            defer { counts = (0, 0) }
            return [counts.reads, counts.commits]
        }
    }

    func read<Result: Sendable>(_ body: @escaping @Sendable (any StoreView) throws -> Result) async throws -> Result {
        counts.withLock { $0.reads += 1 }
        return try await inner.read(body)
    }

    func commit(_ changes: [Change]) async throws -> CommitOutcome {
        counts.withLock { $0.commits += 1 }
        return try await inner.commit(changes)
    }

    func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result { try await inner.preparingCommit(work) }

    func removeExpired(now: Date, limit: Int) async throws -> Int { try await inner.removeExpired(now: now, limit: limit) }

    func close() async throws { try await inner.close() }
}

@Suite("The work of a recovery")
struct RecoveryWorkTests {
    @Test("is the same for a name of nobody's as for a person's, so that its time tells nothing", arguments: ["SMS", "CALL", "EMAIL"])
    func alike(way: String) async throws {
        let policy = ClassicPolicy(signOnPolicy: "one factor", recovery: [.sms, .voice, .email], unlocksBySelfService: true)
        let desk = try await ClassicDesk(policy) {
            $0.signOnPolicies.append(SignOnPolicy(name: "one factor", rules: [SignOnRule(name: "any", assurance: .oneFactor)]))
        }
        let jane = try await desk.jane()
        let number = try #require(PhoneNumber("+49 30 5550123"))
        _ = try await desk.engine.grantCodeFactor(.sms, to: CodeDestination(number), userID: jane.id, context: desk.context)
        let store = CountingStore(desk.organization.store)
        let engine = IdentityEngine(store: store, environment: desk.engine.environment)
        _ = try await engine.snapshot()
        var works: [String: [[Int]]] = [:]
        var isSent: [String: Bool] = [:]
        for login in [TestOrganization.jane, "nobody@example.com"] {
            for isUnlock in [false, true] {
                desk.now += 60
                _ = store.take()
                let request = ClassicRecoveryRequest(isUnlock: isUnlock, username: login, factorType: way)
                let begun = try await engine.classicRecover(request, caller: ClassicCaller(), context: desk.context).get()
                works[login, default: []].append(store.take())
                if !isUnlock { isSent[login] = !begun.messages.isEmpty }
                guard case .transaction(let transaction) = begun.outcome, let token = transaction.stateToken else { continue }
                desk.now += 31
                _ = try await engine.classicRecoveryResend(stateToken: token, context: desk.context)
                works[login, default: []].append(store.take())
                for _ in 0..<5 {
                    _ = try await engine.classicRecoveryVerify(passCode: "000000x", stateToken: token, context: desk.context)
                    works[login, default: []].append(store.take())
                }
            }
        }
        #expect(isSent == [TestOrganization.jane: true, "nobody@example.com": false])
        #expect(works[TestOrganization.jane] == works["nobody@example.com"])
        #expect(works[TestOrganization.jane]?.first?.allSatisfy { $0 > 0 } == true)
    }
}
