import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Rate limits")
struct RateLimiterTests {
    private let start = Date(timeIntervalSince1970: 1_700_000_040)

    @Test("A rate limit counts down, rejects requests over the limit and starts again with the next minute")
    func window() {
        let limiter = RateLimiter()
        let reset = start.addingTimeInterval(60)
        for remaining in [2, 1, 0] {
            #expect(
                limiter.count(.client("a"), limit: 3, now: start)
                    == RateLimitStatus(limit: 3, remaining: remaining, reset: reset, isAdmitted: true))
        }
        for _ in 0..<2 {
            #expect(
                limiter.count(.client("a"), limit: 3, now: start.addingTimeInterval(59))
                    == RateLimitStatus(limit: 3, remaining: 0, reset: reset, isAdmitted: false))
        }
        #expect(limiter.count(.client("a"), limit: 3, now: reset).remaining == 2)
    }

    @Test("Each client and each user has a separate rate limit")
    func subjects() {
        let limiter = RateLimiter()
        _ = limiter.count(.client("a"), limit: 1, now: start)
        #expect(limiter.count(.client("b"), limit: 1, now: start).isAdmitted)
        #expect(limiter.count(.user("a"), limit: 1, now: start).isAdmitted)
        #expect(!limiter.count(.client("a"), limit: 1, now: start).isAdmitted)
    }

    @Test("Subjects beyond the limiter's capacity share counters and are still limited")
    func flood() {
        let limiter = RateLimiter(capacity: 10)
        var refused = 0
        for index in 0..<20_000 where !limiter.count(.address("\(index)"), limit: 5, now: start).isAdmitted { refused += 1 }
        // Ten subjects have their own counter. The others share 1,024 counters. Each counter admits five requests per minute.
        #expect(refused >= 20_000 - (10 + 1_024) * 5)
        #expect(limiter.count(.address("0"), limit: 5, now: start).remaining == 3)
    }

    @Test("The rate limiter counts concurrent requests exactly")
    func parallel() async {
        let limiter = RateLimiter()
        let admitted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { limiter.count(.user("u"), limit: 50, now: start).isAdmitted } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(admitted == 50)
    }

    @Test("An address that exceeds its own limit does not use up the limit of the client")
    func oneAddressAgainstAClient() async throws {
        let org = try await SignInFixture { $0.rateLimits = RateLimits(perClient: 10, perAddress: 3, perUser: 10) }
        let snapshot = try await org.engine.snapshot()
        func count(from address: String) -> RateLimitStatus {
            let context = RequestContext(now: start, requestID: "request", address: address)
            return org.engine.countRequest(clientID: "one", snapshot: snapshot, context: context)
        }
        for _ in 0..<50 { _ = count(from: "203.0.113.1") }
        #expect(count(from: "203.0.113.2").isAdmitted)
    }

    @Test(
        "An address that exceeds its sign-in limit with many user names is rejected, and another address can still use the same user names")
    func spraying() async throws {
        let org = try await SignInFixture { $0.rateLimits = RateLimits(perAddressSignIns: 3, perUser: 2) }
        let snapshot = try await org.engine.snapshot()
        func attempt(_ login: String, from address: String) -> RateLimitStatus {
            org.engine.countAttempt(
                login: login, snapshot: snapshot, context: RequestContext(now: start, requestID: "request", address: address))
        }
        for name in ["a", "b", "c"] { #expect(attempt(name, from: "203.0.113.1").isAdmitted) }
        for name in ["d", "e", "f", "f", "f"] {
            let refused = attempt(name, from: "203.0.113.1")
            #expect(!refused.isAdmitted && refused.limit == 3)
        }
        #expect(attempt("f", from: "203.0.113.2").isAdmitted)
        // Requests of another kind have their own counter.
        let context = RequestContext(now: start, requestID: "request", address: "203.0.113.1")
        #expect(org.engine.countRequest(clientID: nil, snapshot: snapshot, context: context).isAdmitted)
    }

    @Test("IPv6 addresses of one /64 network share a rate limit, and an IPv4 address has one rate limit in every notation")
    func networks() {
        #expect(RateLimiter.Subject.from("2001:db8::1") == .from("2001:db8:0:0:ffff::2"))
        #expect(RateLimiter.Subject.from("2001:db8::1") != .from("2001:db8:0:1::1"))
        #expect(RateLimiter.Subject.from("fe80::1%eth0") == .from("fe80::2%eth0"))
        #expect(RateLimiter.Subject.from("::ffff:203.0.113.1") == .from("203.0.113.1"))
        #expect(RateLimiter.Subject.from("::ffff:203.0.113.1") != .from("::ffff:203.0.113.2"))
        #expect(RateLimiter.Subject.from("unknown") == .address("unknown"))
    }

    @Test("The rate limit key of a user name is at most 64 bytes long, differs per name and ignores the case")
    func longNames() {
        let long = String(repeating: "x", count: 60_000)
        guard case .user(let key) = RateLimiter.Subject.signIn(as: long) else { return #expect(Bool(false)) }
        #expect(key.utf8.count <= 64)
        #expect(RateLimiter.Subject.signIn(as: long) != .signIn(as: long + "y"))
        #expect(RateLimiter.Subject.signIn(as: long) == .signIn(as: long.uppercased()))
    }

    @Test("A request reports the rate limit of its client or of its address, whichever has fewer requests left")
    func request() async throws {
        let org = try await SignInFixture { $0.rateLimits = RateLimits(perClient: 2, perAddress: 3, perUser: 10) }
        let snapshot = try await org.engine.snapshot()
        func count(_ client: String?) -> RateLimitStatus {
            org.engine.countRequest(clientID: client, snapshot: snapshot, context: SignInFixture.context())
        }
        #expect(count("one").limit == 2)
        #expect(count("one").remaining == 0)
        let third = count("one")
        #expect(!third.isAdmitted && third.limit == 2)
        // The limit of the address is now reached too. An unknown client id has no own limit.
        let fourth = count("invented")
        #expect(!fourth.isAdmitted && fourth.limit == 3)
    }

    @Test("A reset of the organization also resets the shared limit of wrong recovery answers")
    func budgetAfterReset() async throws {
        let org = try await TestOrganization()
        let context = TestOrganization.context(TestOrganization.start)
        let snapshot = try await org.engine.snapshot()
        func budget() async throws -> RecoveryBudget { try await org.engine.store.read { try $0.recoveryBudget(at: context.now) } }
        for guess in 1...snapshot.rateLimits.recoveryGuesses {
            let (writes, signal) = try await budget().counting(snapshot, now: context.now)
            #expect((signal == .recoveryBudgetSpent) == (guess == snapshot.rateLimits.recoveryGuesses))
            try await org.engine.write(writes, context: context)
        }
        #expect(try await budget().isSpent(snapshot))
        try await org.engine.startOver(with: TestOrganization.definition, context: context, making: TestOrganization.key)
        #expect(try await !budget().isSpent(snapshot))
    }

    @Test("The count of a wrong recovery answer is committed despite 40 write conflicts, while another write with 40 conflicts fails")
    func contendedGuess() async throws {
        let org = try await SignInFixture()
        let (snapshot, context) = (try await org.engine.snapshot(), SignInFixture.context())
        func commit(_ writes: Writes, conflicts: Int) async throws {
            let store = ContendedStore(org.store, conflicts: conflicts)
            let engine = Engine(store: store, environment: SignInFixture.environment(seed: 7))
            try await engine.transact(context) { _ in
                ()
            } decide: { _ in
                Plan((), writes)
            }
        }
        let guess = try await org.store.read { try $0.recoveryBudget(at: context.now) }.counting(snapshot, now: context.now).0
        // A step can commit the count of a guess together with other writes.
        try await commit(Writes([.put(Record(kind: .limitCount, id: "own", payload: []))]) + guess, conflicts: 40)
        #expect(try await org.store.read { try $0.recoveryBudget(at: context.now) }.count == 1)
        let other = Writes([.put(Record(kind: .limitCount, id: "other", payload: []))])
        await #expect(throws: StoreError.self) { try await commit(other, conflicts: 40) }
        try await commit(other, conflicts: 30)
    }
}

/// A store whose first commits conflict with another writer.
private final class ContendedStore: Store {
    private let inner: any Store
    private let conflicts: Mutex<Int>

    init(_ inner: any Store, conflicts: Int) {
        self.inner = inner
        self.conflicts = Mutex(conflicts)
    }

    func read<Result: Sendable>(
        _ lookup: @escaping @Sendable () -> Lookup, _ body: @escaping @Sendable (any StoreView) throws -> Result
    ) async throws -> Result { try await inner.read(lookup, body) }

    func commit(_ changes: [Change]) async throws -> CommitOutcome {
        let isContended = conflicts.withLock { left in
            left -= 1
            return left >= 0
        }
        return isContended ? .conflict(index: 0, .version(stored: 9)) : try await inner.commit(changes)
    }

    func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result { try await work() }

    func removeExpired(now: Date, limit: Int) async throws -> Int { try await inner.removeExpired(now: now, limit: limit) }
    func close() async throws { try await inner.close() }
}
