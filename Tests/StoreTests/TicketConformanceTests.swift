import Foundation
import Store
import Testing

@Suite("Tickets of a store")
struct TicketConformanceTests {
    private let now = Date(timeIntervalSince1970: 1000)

    @Test("A ticket can be taken only once, and its state then contains the time and the result", arguments: StoreUnderTest.allCases)
    func takeOnce(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            let ticket = Ticket.refresh("r", expiresAt: now + 60)
            _ = try await store.commit([.issue(ticket)])
            #expect(try await store.state("r") == .fresh(ticket))
            let take = Change.take(.refreshToken, digest: ticket.digest, now: now, gave: [1, 2])
            #expect(try await store.commit([take]) == .committed)
            let taken = TicketState.taken(ticket, at: now, gave: [1, 2])
            #expect(try await store.state("r") == taken)
            #expect(try await store.commit([take]) == .conflict(index: 0, .ticket(taken)))
        }
    }

    @Test("Of a hundred concurrent attempts to take a ticket, exactly one succeeds", arguments: StoreUnderTest.allCases)
    func takersRace(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            let ticket = Ticket.refresh("r")
            _ = try await store.commit([.issue(ticket)])
            let outcomes = try await race(100) {
                try await store.commit([.take(.refreshToken, digest: ticket.digest, now: Date(timeIntervalSince1970: 1), gave: [UInt8($0)])]
                )
            }
            #expect(outcomes.filter { $0 == .committed }.count == 1)
        }
    }

    @Test("A ticket counts as expired from exactly its expiry time, and cannot be taken from then on", arguments: StoreUnderTest.allCases)
    func expiry(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            let ticket = Ticket.refresh("r", expiresAt: now)
            _ = try await store.commit([.issue(ticket)])
            #expect(try await store.state("r", now: now - 1) == .fresh(ticket))
            #expect(try await store.state("r", now: now) == .expired(ticket))
            let late = Change.take(.refreshToken, digest: ticket.digest, now: now, gave: [])
            #expect(try await store.commit([late]) == .conflict(index: 0, .ticket(.expired(ticket))))
        }
    }

    @Test("A ticket of one kind cannot be found or taken as a ticket of another kind", arguments: StoreUnderTest.allCases)
    func kinds(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            _ = try await store.commit([.issue(.refresh("r"))])
            #expect(try await store.state("r", kind: .sessionToken) == .unknown)
            let other = Change.take(.authorizationCode, digest: TicketDigest(of: "r"), now: now, gave: [])
            #expect(try await store.commit([other]) == .conflict(index: 0, .ticket(.unknown)))
        }
    }

    @Test("A ticket whose digest already exists cannot be issued again", arguments: StoreUnderTest.allCases)
    func issueTwice(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            let ticket = Ticket.refresh("r")
            _ = try await store.commit([.issue(ticket)])
            #expect(try await store.commit([.issue(ticket)]) == .conflict(index: 0, .ticket(.fresh(ticket))))
        }
    }

    @Test("A reusable ticket cannot be taken, and can be required until it is closed", arguments: StoreUnderTest.allCases)
    func untilClosed(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            let ticket = Ticket.refresh("r", use: .untilClosed, expiresAt: now + 60)
            _ = try await store.commit([.issue(ticket), .issue(.refresh("once"))])
            let require = Change.require(.refreshToken, digest: ticket.digest, now: now)
            #expect(try await store.commit([require, require]) == .committed)
            #expect(
                try await store.commit([.take(.refreshToken, digest: ticket.digest, now: now, gave: [])])
                    == .conflict(index: 0, .ticket(.fresh(ticket))))
            #expect(
                try await store.commit([.require(.refreshToken, digest: TicketDigest(of: "once"), now: now)])
                    == .conflict(index: 0, .ticket(.fresh(.refresh("once")))))
            #expect(try await store.commit([.close(.refreshToken, digest: ticket.digest)]) == .committed)
            #expect(try await store.state("r") == .closed(ticket))
            #expect(try await store.commit([require]) == .conflict(index: 0, .ticket(.closed(ticket))))
        }
    }

    @Test(
        "The result of a taken ticket is replaced only if the current result equals the expected result", arguments: StoreUnderTest.allCases
    )
    func retake(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            let ticket = Ticket.refresh("r")
            func retake(_ expected: [UInt8], _ gave: [UInt8]) -> Change {
                .retake(.refreshToken, digest: ticket.digest, now: now + 5, expected: expected, gave: gave)
            }
            _ = try await store.commit([.issue(ticket)])
            #expect(try await store.commit([retake([], [2])]) == .conflict(index: 0, .ticket(.fresh(ticket))))
            _ = try await store.commit([.take(.refreshToken, digest: ticket.digest, now: now, gave: [1])])
            #expect(try await store.commit([retake([9], [2])]) == .conflict(index: 0, .ticket(.taken(ticket, at: now, gave: [1]))))
            #expect(try await store.commit([retake([1], [2])]) == .committed)
            #expect(try await store.state("r") == .taken(ticket, at: now, gave: [2]))
        }
    }

    @Test("Closing the tickets of a record closes all tickets of that record and no other tickets", arguments: StoreUnderTest.allCases)
    func closeOwned(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            _ = try await store.commit([
                .issue(.refresh("a")), .issue(.refresh("b")), .issue(.refresh("c", owner: "g2")),
                .take(.refreshToken, digest: TicketDigest(of: "b"), now: now, gave: []),
                .closeTickets(of: RecordReference(.grant, "g1")), .closeTickets(of: RecordReference(.grant, "none")),
                .close(.refreshToken, digest: TicketDigest(of: "none")),
            ])
            #expect(try await store.state("a") == .closed(.refresh("a")))
            #expect(try await store.state("b") == .closed(.refresh("b")))
            #expect(try await store.state("c") == .fresh(.refresh("c", owner: "g2")))
        }
    }

    @Test(
        "Clean-up removes expired entries up to its limit, and a taken ticket stays until its expiry",
        arguments: StoreUnderTest.allCases)
    func removeExpired(_ implementation: StoreUnderTest) async throws {
        try await implementation.run { (store) async throws in
            let kept = Ticket.refresh("kept", expiresAt: now + 10)
            _ = try await store.commit([
                .issue(.refresh("old", expiresAt: now)), .issue(kept), .issue(.refresh("forever")),
                .take(.refreshToken, digest: kept.digest, now: now, gave: [3]),
                .put(.user("gone", login: "jane", expiresAt: now)), .put(.user("stays", expiresAt: now + 1)), .put(.user("always")),
                .issue(.refresh("owned", owner: "gone")),
            ])
            #expect(try await store.removeExpired(now: now, limit: 1) == 1)
            #expect(try await store.removeExpired(now: now, limit: 9) == 1)
            #expect(try await store.removeExpired(now: now, limit: 9) == 0)
            #expect(try await store.state("old") == .unknown)
            #expect(try await store.state("kept") == .taken(kept, at: now, gave: [3]))
            #expect(try await store.record(.user, "gone") == nil)
            #expect(try await store.read { try $0.records(.user, after: nil, limit: 9) }.map(\.id) == ["always", "stays"])
            #expect(try await store.commit([.put(.user("new", login: "jane"))]) == .committed)
        }
    }
}
