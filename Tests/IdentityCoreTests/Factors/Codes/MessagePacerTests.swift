import Foundation
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Messages to one number or address")
struct MessagePacerTests {
    private let store = InMemoryStore()
    private let pacer = MessagePacer()

    /// Counts a message as a request does: after a conflict, it reads the counts and decides again.
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
            try await pacer.readAgain(changes, from: store)
        }
    }

    private func isSent(
        _ key: String, _ occasion: SentCodeMethod.Occasion, at seconds: TimeInterval, limit: Int? = nil, unconfirmed: String? = nil,
        by pacer: MessagePacer? = nil
    ) async throws -> Bool {
        try await refusal(key, occasion, at: seconds, limit: limit, unconfirmed: unconfirmed, by: pacer) == nil
    }

    @Test("An unconfirmed number gets at most twelve messages an hour, and messages to users who confirmed it do not count")
    func unconfirmed() async throws {
        var sent = 0
        for round in 0..<100
        where try await isSent("person \(round % 10) +491", .known, at: Double(round) * 31, unconfirmed: "+491") { sent += 1 }
        #expect(sent == 12)
        #expect(try await isSent("owner +491", .known, at: 3_100))
        #expect(try await isSent("person 1 +492", .known, at: 3_100, unconfirmed: "+492"))
        #expect(try await isSent("person 1 +491", .known, at: 3_700, unconfirmed: "+491"))
    }

    @Test("Recovery messages do not use up sign-in messages, and both together are twelve an hour")
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

    @Test("Messages of all users share a limit per minute", arguments: [3, 60, 600])
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

    @Test("The limits are exact for several servers that send at the same time")
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

    @Test("A conflict about the wrong guesses of all users does not disturb the counts of messages")
    func otherCounts() async throws {
        let org = try await SignInFixture()
        let (snapshot, now) = (try await org.engine.snapshot(), SignInFixture.start)
        let stale = try await org.store.read { try $0.recoveryBudget(at: now) }.counting(snapshot, now: now).0
        try await org.engine.write(stale, context: SignInFixture.context())
        try await pacer.readAgain(stale.changes, from: org.store)
        await #expect(throws: StoreError.self) { try await org.engine.write(stale, context: SignInFixture.context()) }
        #expect(try await org.store.read { try $0.recoveryBudget(at: now) }.count == 1)
    }

    @Test("A server that forgot its counts, and one whose counts were cleaned up, continue with those of the store")
    func forgotten() async throws {
        for round in 0..<4 { #expect(try await isSent("+491", .anybody, at: Double(round) * 31)) }
        #expect(try await !isSent("+491", .anybody, at: 200, by: MessagePacer(capacity: 1)))
        #expect(try await store.removeExpired(now: Date(timeIntervalSince1970: 1_800_007_300), limit: 100) > 0)
        #expect(try await isSent("+491", .anybody, at: 7_300))
    }
}
