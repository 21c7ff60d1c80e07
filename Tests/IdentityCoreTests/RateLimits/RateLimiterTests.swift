import Foundation
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

    @Test("Each client and each user has its own rate limit")
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
        // Ten subjects have their own counter, the others share 1,024. Each counter admits five requests per minute.
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

    @Test("The sign-in limit stops an address that tries many user names, and admits attempts for them from other addresses")
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
        // Requests of other kinds have their own counter.
        let context = RequestContext(now: start, requestID: "request", address: "203.0.113.1")
        #expect(org.engine.countRequest(clientID: nil, snapshot: snapshot, context: context).isAdmitted)
    }

    @Test("An IPv6 address shares the rate limit of its network, and an IPv4 address has its own in every notation")
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

    @Test("The rate limit status of a request is the client's or the address's, whichever is closer to exhaustion")
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
        // The limit of the address is now reached too. An unknown client id has no limit of its own.
        let fourth = count("invented")
        #expect(!fourth.isAdmitted && fourth.limit == 3)
    }

    @Test("The budget of wrong recovery answers is full again after a reset of the organization")
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
}
