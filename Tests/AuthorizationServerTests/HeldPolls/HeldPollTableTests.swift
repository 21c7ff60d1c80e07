import AuthorizationServer
import Crypto
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import ServerHTTP
@testable import Store

@Suite("Table of held polls", .timeLimit(.minutes(5)))
struct HeldPollTableTests {
    private let store = CountingStore()
    private let clock = ManualClock()

    private func makePolls(_ limits: HeldPolls.Limits = .init()) -> (HeldPolls, Engine) {
        let engine = Engine(
            store: store,
            environment: EngineEnvironment(
                random: SystemRandomSource(), masterKey: SymmetricKey(size: .bits256), passwordHasher: PasswordHasher(width: 1)))
        return (HeldPolls(engine: engine, clock: clock, limits: limits), engine)
    }

    private func awaited(_ transaction: Int, client: String = "app", version: Int64 = 0) -> AwaitedDecision {
        AwaitedDecision(
            digest: TicketDigest(of: "\(transaction)"), clientID: client, transactionID: "txn\(transaction)", version: version,
            expiresAt: clock.now.addingTimeInterval(300))
    }

    private func deadline(_ seconds: TimeInterval = 25) -> Date { clock.now.addingTimeInterval(seconds) }

    private static func write(_ transaction: Int, version: Int64 = 0) -> Change {
        .put(Record(kind: .transaction, id: "txn\(transaction)", version: version, payload: []))
    }

    // MARK: - Limits

    @Test("When the process holds its maximum number of polls, a further poll is not held until an earlier poll ends")
    func total() throws {
        let (polls, _) = makePolls(.init(total: 2, perClient: 2))
        let first = try #require(polls.place(for: awaited(1), address: nil))
        _ = try #require(polls.place(for: awaited(2), address: nil))
        #expect(polls.place(for: awaited(3), address: nil) == nil)
        polls.leave(first)
        polls.leave(first)
        #expect(polls.place(for: awaited(3), address: nil) != nil && polls.count == 2)
    }

    @Test("A single client or a single address can hold only a part of the maximum number of polls")
    func shares() throws {
        let (polls, _) = makePolls(.init(total: 8, perAddress: 2))
        for number in 1...4 { _ = try #require(polls.place(for: awaited(number), address: "192.0.2.\(number)")) }
        #expect(polls.place(for: awaited(5), address: "192.0.2.5") == nil)
        _ = try #require(polls.place(for: awaited(6, client: "other"), address: "192.0.2.1"))
        #expect(polls.place(for: awaited(7, client: "other"), address: "192.0.2.1") == nil)
        // The addresses of an IPv6 /64 count as one address.
        _ = try #require(polls.place(for: awaited(8, client: "other"), address: "2001:db8::1"))
        _ = try #require(polls.place(for: awaited(9, client: "other"), address: "2001:db8::2"))
        #expect(polls.place(for: awaited(10, client: "other"), address: "2001:db8::3") == nil)
    }

    @Test("The server holds one poll per transaction, and a newer poll replaces the held poll even at the maximum number")
    func perTransaction() async throws {
        let (polls, _) = makePolls(.init(total: 1))
        let old = try #require(polls.place(for: awaited(1), address: nil))
        async let end = polls.wait(at: old, version: 0, until: deadline())
        let new = try #require(polls.place(for: awaited(1), address: nil))
        #expect(await end == .released && polls.count == 1)
        polls.leave(old)
        #expect(polls.count == 1)
        polls.leave(new)
        #expect(polls.count == 0)
    }

    // MARK: - Waking

    @Test("A commit of the same process wakes the held poll of the transaction that it wrote, and no other held poll")
    func commit() async throws {
        let (polls, engine) = makePolls()
        let (first, second) = (
            try #require(polls.place(for: awaited(1), address: nil)), try #require(polls.place(for: awaited(2), address: nil))
        )
        async let end = polls.wait(at: first, version: 0, until: deadline())
        async let other = polls.wait(at: second, version: 0, until: deadline())
        try await engine.write(Writes([Self.write(1)]), context: RequestContext(now: clock.now, requestID: "decision"))
        #expect(await end == .changed)
        polls.leave(second)
        #expect(await other == .released)
    }

    @Test("A commit between the read and the wait of a held poll ends the wait at once")
    func earlyCommit() async throws {
        let (polls, engine) = makePolls()
        let place = try #require(polls.place(for: awaited(1), address: nil))
        try await engine.write(Writes([Self.write(1)]), context: RequestContext(now: clock.now, requestID: "decision"))
        #expect(await polls.wait(at: place, version: 0, until: deadline()) == .changed)
        #expect(await polls.wait(at: place, version: 1, until: clock.now) == .over)
    }

    @Test("All held polls share one store read every 250 ms, which wakes the polls whose transaction another process changed or removed")
    func batchedRead() async throws {
        let (polls, _) = makePolls()
        _ = try await store.commit((0..<100).map { Self.write($0) })
        try await withThrowingTaskGroup(of: (Int, HeldPolls.End).self) { group in
            for number in 0..<100 {
                let place = try #require(polls.place(for: awaited(number, version: 1), address: nil))
                group.addTask { [clock] in
                    (number, await polls.wait(at: place, version: 1, until: clock.now.addingTimeInterval(25)))
                }
            }
            while polls.waitingCount < 100 { await Task.yield() }
            #expect(store.reads == 0)
            // Commits without this engine, as another process does.
            _ = try await store.commit([Self.write(7, version: 1), .remove(.transaction, id: "txn8", version: 1)])
            await clock.advanceOnceWatched(by: 0.25)
            for number in [7, 8] {
                let (woken, end) = try #require(try await group.next())
                #expect([7, 8].contains(woken) && end == .changed, "\(number)")
            }
            #expect(store.reads == 1 && polls.waitingCount == 98)
            await clock.advanceOnceWatched(by: 0.25)
            await clock.advanceOnceWatched(by: 0.125)
            #expect(store.reads == 2)
            polls.shutdown()
            for try await (_, end) in group { #expect(end == .released) }
        }
    }

    @Test("The task that reads the store for held polls stops when no poll waits, and starts again with the next wait")
    func idle() async throws {
        let (polls, _) = makePolls()
        let place = try #require(polls.place(for: awaited(1), address: nil))
        async let end = polls.wait(at: place, version: 0, until: deadline(1))
        await clock.advanceOnceWatched(by: 1)
        #expect(await end == .over)
        while polls.isWatching { await Task.yield() }
        let reads = store.reads
        async let next = polls.wait(at: place, version: 0, until: deadline(1))
        while polls.waitingCount == 0 { await Task.yield() }
        #expect(polls.isWatching)
        await clock.advanceOnceWatched(by: 1)
        #expect(await next == .over && store.reads == reads)
    }

    // MARK: - Ends

    @Test("A held poll whose task is cancelled before or during its wait is removed from the table", arguments: [false, true])
    func cancelled(isWaiting: Bool) async throws {
        let (polls, _) = makePolls()
        let place = try #require(polls.place(for: awaited(1), address: nil))
        let end = deadline()
        let gate = AsyncStream.makeStream(of: Never.self)
        let task = Task {
            if !isWaiting { for await _ in gate.stream {} }
            return await polls.wait(at: place, version: 0, until: end)
        }
        if isWaiting { while polls.waitingCount == 0 { await Task.yield() } }
        task.cancel()
        gate.continuation.finish()
        #expect(await task.value == .released && polls.count == 0)
    }

    @Test("Setting the clock back ends the wait of a held poll")
    func clockSetBack() async throws {
        let (polls, _) = makePolls()
        let place = try #require(polls.place(for: awaited(1), address: nil))
        async let end = polls.wait(at: place, version: 0, until: deadline())
        while polls.waitingCount == 0 { await Task.yield() }
        await clock.setBackOnceWatched(by: 3_600)
        #expect(await end == .over)
    }

    @Test("A shutdown ends the waits of 10,000 held polls, and later polls are not held")
    func shutdown() async throws {
        let (polls, _) = makePolls(.init(perClient: 10_000))
        await withTaskGroup(of: HeldPolls.End.self) { group in
            for number in 0..<10_000 {
                guard let place = polls.place(for: awaited(number), address: nil) else {
                    Issue.record("no place for poll \(number)")
                    return polls.shutdown()
                }
                group.addTask { [clock] in await polls.wait(at: place, version: 0, until: clock.now.addingTimeInterval(25)) }
            }
            while polls.waitingCount < 10_000 { await Task.yield() }
            polls.shutdown()
            for await end in group { #expect(end == .released) }
        }
        #expect(polls.place(for: awaited(1), address: nil) == nil && polls.count == 0)
    }

    // MARK: - Preferences

    @Test(
        "The server uses the first wait preference of a request, in any spelling, and ignores invalid values",
        arguments: [
            ([], nil), (["wait=10"], 10), (["wait=0"], 0), (["WAIT=10"], 10), (["wait = \"10\""], 10), (["respond-async, wait=10"], 10),
            (["respond-async", "wait=10; foo=bar, wait=20"], 10), (["wait=99999999999999999999"], Int.max), (["wait"], nil),
            (["wait="], nil), (["wait=-1"], nil), (["wait=1.5"], nil), (["await=10"], nil), (["return=minimal"], nil),
        ] as [([String], Int?)])
    func preference(values: [String], seconds: Int?) {
        var headers = HTTPFields()
        for value in values { headers.append(HTTPField(name: .prefer, value: value)) }
        #expect(WaitPreference.seconds(in: headers) == seconds)
    }

    @Test("If the server cannot hold a client's poll, the client must wait longer than one second until its next poll")
    func longerInterval() {
        let pacer = PollPacer()
        #expect(pacer.interval == 5)
        pacer.expectHeldPolls()
        #expect(pacer.interval == 1)
        let (held, unheld) = (TicketDigest(of: "held"), TicketDigest(of: "unheld"))
        #expect(!pacer.isTooFast(held, now: clock.now) && !pacer.isTooFast(unheld, now: clock.now))
        #expect(pacer.slowDown(unheld))
        #expect(!pacer.slowDown(unheld), "The interval has grown already.")
        let next = clock.now.addingTimeInterval(1)
        #expect(!pacer.isTooFast(held, now: next) && pacer.isTooFast(unheld, now: next))
    }
}

/// A store in memory that counts reads.
private final class CountingStore: Store {
    private let store = InMemoryStore()
    private let count = NIOLockedValueBox(0)

    var reads: Int { count.withLockedValue { $0 } }

    func read<Result: Sendable>(
        _ lookup: @escaping @Sendable () -> Lookup, _ body: @escaping @Sendable (any StoreView) throws -> Result
    ) async throws -> Result {
        count.withLockedValue { $0 += 1 }
        return try await store.read(lookup, body)
    }

    func commit(_ changes: [Change]) async throws -> CommitOutcome { try await store.commit(changes) }

    func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result { try await store.preparingCommit(work) }

    func removeExpired(now: Date, limit: Int) async throws -> Int { try await store.removeExpired(now: now, limit: limit) }

    func close() async throws { try await store.close() }
}
