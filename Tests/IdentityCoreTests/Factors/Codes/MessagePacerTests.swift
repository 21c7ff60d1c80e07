import Foundation
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Message limits")
struct MessagePacerTests {
    private let store = InMemoryStore()
    private let pacer = MessagePacer()

    /// Counts a message as a request does. After a conflict, it reads the counts again and decides again.
    private func refusal(
        _ key: String, _ occasion: SentCodeMethod.Occasion, at seconds: TimeInterval, limit: Int? = nil, unconfirmed: String? = nil,
        by pacer: MessagePacer? = nil
    ) async throws -> CodeRefusal? {
        let (now, pacer) = (Date(timeIntervalSince1970: 1_800_000_000 + seconds), pacer ?? self.pacer)
        while true {
            let changes: [Change]
            do {
                changes = try pacer.count(.sms, to: key, occasion, limit: limit, unconfirmed: unconfirmed, now: now)
            } catch let refusal as CodeRefusal {
                return refusal
            }
            guard try await store.commit(changes) != .committed else {
                pacer.remember(writtenBy: changes)
                return nil
            }
            try await pacer.readAgain(changes, from: store, now: now)
        }
    }

    private func isSent(
        _ key: String, _ occasion: SentCodeMethod.Occasion, at seconds: TimeInterval, limit: Int? = nil, unconfirmed: String? = nil,
        by pacer: MessagePacer? = nil
    ) async throws -> Bool {
        try await refusal(key, occasion, at: seconds, limit: limit, unconfirmed: unconfirmed, by: pacer) == nil
    }

    @Test(
        "All users together can send at most twelve messages an hour to an unconfirmed number, and a user who confirmed the number still gets messages"
    )
    func unconfirmed() async throws {
        var sent = 0
        for round in 0..<100
        where try await isSent("person \(round % 10) +491", .known, at: Double(round) * 31, unconfirmed: "+491") { sent += 1 }
        #expect(sent == 12)
        #expect(try await isSent("owner +491", .known, at: 3_100))
        #expect(try await isSent("person 1 +492", .known, at: 3_100, unconfirmed: "+492"))
        #expect(try await isSent("person 1 +491", .known, at: 3_700, unconfirmed: "+491"))
    }

    @Test("A phone number gets at most twelve messages an hour, at most four of them for recovery")
    func shares() async throws {
        var (recoveries, others) = (0, 0)
        for round in 0..<40 where try await isSent("+491", .anybody, at: Double(round) * 31) { recoveries += 1 }
        #expect(recoveries == 4)
        for round in 0..<40 where try await isSent("+491", .known, at: Double(round) * 31) { others += 1 }
        #expect(recoveries + others == 12)
        #expect(try await isSent("+491", .anybody, at: 3_601))
        #expect(try await isSent("+491", .known, at: 3_601))
        // Two messages of one kind are at least half a minute apart.
        #expect(try await !isSent("+491", .anybody, at: 3_620))
        #expect(try await !isSent("+491", .known, at: 3_620))
    }

    @Test("The messages to all users share one limit per minute", arguments: [3, 60, 600])
    func everybody(limit: Int) async throws {
        var sent = 0
        for number in 0..<(limit + 20) where try await isSent("+49\(number)", .known, at: 1, limit: limit) { sent += 1 }
        #expect(sent == limit)
        #expect(
            try await refusal("+4910", .anybody, at: 5, limit: limit)
                == .tooMany(.sms, until: Date(timeIntervalSince1970: 1_800_000_060)))
        #expect(try await isSent("+4910", .anybody, at: 60, limit: limit))
        // A message that is not sent does not count.
        for number in 0..<10 { #expect(try await isSent("name \(number)", .anybody, at: 61)) }
        sent = 0
        for number in 0..<limit where try await isSent("+50\(number)", .known, at: 62, limit: limit) { sent += 1 }
        #expect(sent == limit - 1)
    }

    @Test("The message limits hold exactly when several servers send at the same time")
    func servers() async throws {
        let pacers = (0..<4).map { _ in MessagePacer() }
        let sent = try await withThrowingTaskGroup(of: Bool.self) { group in
            for round in 0..<200 {
                group.addTask {
                    try await isSent(
                        "person \(round) +491", .known, at: Double(round) / 10, limit: 50, unconfirmed: "+491", by: pacers[round % 4])
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(sent == 12)
        let others = try await withThrowingTaskGroup(of: Bool.self) { group in
            for round in 0..<200 {
                group.addTask { try await isSent("person \(round)", .known, at: 80, limit: 50, by: pacers[round % 4]) }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(others == 50)
    }

    @Test(
        "For an unknown user name, a message request writes the shared message count as for a known name, but does not increase the count")
    func decoyConflicts() async throws {
        #expect(try await isSent("+491", .known, at: 0, limit: 20))
        let now = Date(timeIntervalSince1970: 1_800_000_001)
        let decoy = try pacer.decoy(.sms, for: "nobody", limit: 20, now: now)
        let message = try pacer.count(.sms, to: "+492", .known, limit: 20, now: now)
        func written(_ changes: [Change]) -> Set<String> {
            Set(changes.compactMap { if case .put(let record) = $0 { record.id } else { nil } })
        }
        #expect(decoy.count == message.count && written(decoy).intersection(written(message)).count == 1)
        // If another server has sent a message, the decoy's commit conflicts, like that of a message.
        #expect(try await isSent("+493", .known, at: 1, limit: 20, by: MessagePacer()))
        #expect(try await store.commit(decoy) != .committed)
        func commitDecoy(_ name: String) async throws {
            while true {
                let changes = try pacer.decoy(.sms, for: name, limit: 20, now: now)
                if try await store.commit(changes) == .committed { return pacer.remember(writtenBy: changes) }
                try await pacer.readAgain(changes, from: store, now: now)
            }
        }
        var sent = 0
        for number in 0..<30 {
            for round in 0..<3 { try await commitDecoy("nobody \(number) \(round)") }
            if try await isSent("+50\(number)", .known, at: 2, limit: 20) { sent += 1 }
        }
        #expect(sent == 18)
    }

    @Test("After expired message counts are removed, a server with outdated counts in memory enforces the newer counts of another server")
    func rewritten() async throws {
        for round in 0..<4 { #expect(try await isSent("+491", .anybody, at: Double(round) * 31)) }
        #expect(try await store.removeExpired(now: Date(timeIntervalSince1970: 1_800_007_300), limit: 100) > 0)
        let other = MessagePacer()
        for round in 0..<4 { #expect(try await isSent("+491", .anybody, at: 7_300 + Double(round) * 31, by: other)) }
        #expect(try await !isSent("+491", .anybody, at: 7_500))
    }

    @Test("After a refused message, a server does not rely on its outdated count if another server has replaced the expired count")
    func refusedAfterConflict() async throws {
        let other = MessagePacer()
        for round in 0..<3 { #expect(try await isSent("+491", .anybody, at: Double(round) * 31, by: other)) }
        // The server reads the count after a conflict, and refuses the message.
        #expect(try await !isSent("+491", .anybody, at: 63))
        #expect(try await store.removeExpired(now: Date(timeIntervalSince1970: 1_800_007_300), limit: 100) > 0)
        for round in 0..<3 { #expect(try await isSent("+491", .anybody, at: 7_300 + Double(round) * 31, by: other)) }
        #expect(try await isSent("+491", .anybody, at: 7_400))
        #expect(try await !isSent("+491", .anybody, at: 7_500))
    }

    @Test("After expired message counts are removed, a message request for an unknown user name commits without a conflict")
    func decoyAfterCleanUp() async throws {
        func decoy(at seconds: TimeInterval) throws -> [Change] {
            Array(try pacer.decoy(.sms, for: "nobody", limit: 20, now: Date(timeIntervalSince1970: 1_800_000_000 + seconds)))
        }
        for seconds in [0.0, 7_300] {
            let changes = try decoy(at: seconds)
            #expect(try await store.commit(changes) == .committed)
            pacer.remember(writtenBy: changes)
            #expect(try await isSent("+491", .known, at: seconds))
            #expect(try await store.removeExpired(now: Date(timeIntervalSince1970: 1_800_007_200 + seconds), limit: 100) > 0)
        }
    }

    @Test(
        "Rereading the message counts after a conflict on the count of wrong recovery answers causes no error, and the stale write is rejected"
    )
    func otherCounts() async throws {
        let org = try await SignInFixture()
        let (snapshot, now) = (try await org.engine.snapshot(), SignInFixture.start)
        let stale = try await org.store.read { try $0.recoveryBudget(at: now) }.counting(snapshot, now: now).0
        try await org.engine.write(stale, context: SignInFixture.context())
        try await pacer.readAgain(stale.changes, from: org.store, now: now)
        await #expect(throws: StoreError.self) { try await org.engine.write(stale, context: SignInFixture.context()) }
        #expect(try await org.store.read { try $0.recoveryBudget(at: now) }.count == 1)
    }

    @Test("A server without message counts in memory enforces the counts in the store, and removed counts start again at zero")
    func forgotten() async throws {
        for round in 0..<4 { #expect(try await isSent("+491", .anybody, at: Double(round) * 31)) }
        #expect(try await !isSent("+491", .anybody, at: 200, by: MessagePacer(capacity: 1)))
        #expect(try await store.removeExpired(now: Date(timeIntervalSince1970: 1_800_007_300), limit: 100) > 0)
        #expect(try await isSent("+491", .anybody, at: 7_300))
    }
}
