import Foundation
import TestSupport
import Testing

@testable import AuthnAPI
@testable import IdentityCore

@Suite("Store calls of a recovery")
struct RecoveryWorkTests {
    /// Returns the numbers of store reads and commits since the last call, by name.
    private static func calls(_ store: MeteredStore) -> [String: Int] { store.take().filter { ["read", "commit"].contains($0.key) } }

    @Test(
        "A recovery makes the same numbers of store reads and commits for a known and for an unknown user name",
        arguments: ["SMS", "CALL", "EMAIL"])
    func alike(way: String) async throws {
        let policy = ClassicPolicy(signOnPolicy: "one factor", recovery: [.sms, .voice, .email], unlocksBySelfService: true)
        let desk = try await ClassicTestClient(policy)
        let jane = try await desk.jane()
        let number = try #require(PhoneNumber("+49 30 5550123"))
        _ = try await desk.engine.grantCodeFactor(.sms, to: CodeDestination(number), userID: jane.id, context: desk.context)
        let store = MeteredStore(desk.organization.store)
        let engine = Engine(store: store, environment: desk.engine.environment)
        let outbox = engine.outbox
        _ = try await engine.snapshot()
        var works: [String: [[String: Int]]] = [:]
        var isSent: [String: Bool] = [:]
        for login in [TestOrganization.jane, "unknown@example.com"] {
            for isUnlock in [false, true] {
                desk.now += 60
                _ = store.take()
                outbox.clear()
                let request = ClassicRecoveryRequest(isUnlock: isUnlock, username: login, factorType: way)
                let begun = try await engine.classicRecover(request, caller: ClassicCaller(), context: desk.context).get()
                works[login, default: []].append(Self.calls(store))
                if !isUnlock { isSent[login] = !outbox.messages.isEmpty }
                guard case .transaction(let transaction) = begun.outcome, let token = transaction.stateToken else { continue }
                desk.now += 31
                _ = try await engine.classicRecoveryResend(stateToken: token, context: desk.context)
                works[login, default: []].append(Self.calls(store))
                for _ in 0..<5 {
                    _ = try await engine.classicRecoveryVerify(passCode: "000000x", stateToken: token, context: desk.context)
                    works[login, default: []].append(Self.calls(store))
                }
            }
        }
        #expect(isSent == [TestOrganization.jane: true, "unknown@example.com": false])
        #expect(works[TestOrganization.jane] == works["unknown@example.com"])
        #expect(works[TestOrganization.jane]?.first?.values.allSatisfy { $0 > 0 } == true)
    }
}
