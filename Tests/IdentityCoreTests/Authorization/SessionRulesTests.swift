import Foundation
import Testing

@testable import IdentityCore

@Suite("Session rules")
struct SessionRulesTests {
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)
    private static let jane = User(id: "00ujane", login: "jane", passwordHash: "hash", createdAt: start)

    private static func time(_ seconds: TimeInterval) -> Date { start.addingTimeInterval(seconds) }

    private static func proof(_ factor: FactorKind, at seconds: TimeInterval) -> SignInTransaction.Proof {
        .init(factor: factor, factorClasses: [.knowledge], methods: [factor.rawValue], time: time(seconds))
    }

    private static func session() -> Session {
        Session(
            id: "ses1", of: jane, proofs: [proof(.password, at: 0)], policy: SessionPolicy(idleLifetime: 100, lifetime: 1_000),
            secret: "secret", now: start)
    }

    @Test(
        "A session expires at the idle timeout after its last use, and at the maximum lifetime even if it is used",
        arguments: [(0.0, 99.0, false), (0, 100, true), (50, 149, false), (50, 150, true), (950, 999, false), (950, 1_000, true)])
    func times(used: TimeInterval, now: TimeInterval, isOver: Bool) {
        var session = Self.session()
        session.use(by: .init(id: "app"), now: Self.time(used))
        #expect(session.isOver(for: Self.jane, now: Self.time(now)) == isOver)
    }

    @Test(
        "A session is invalid after a password change, suspension or deactivation, even after reactivation, and is never valid for another user"
    )
    func account() {
        var changed = Self.jane
        changed.setPasswordHash("other", now: Self.time(1))
        var back = Self.jane
        back.setStatus(.deactivated, now: Self.time(1))
        back.setStatus(.active, now: Self.time(2))
        var suspended = Self.jane
        suspended.setStatus(.suspended, now: Self.time(1))
        var other = Self.jane
        other.id = "00ubob"
        for user in [changed, back, suspended, other] { #expect(Self.session().isOver(for: user, now: Self.time(3))) }
        #expect(!Self.session().isOver(for: Self.jane, now: Self.time(3)))
    }

    @Test("A session keeps only the latest proof of each factor, and lists the proofs in the order of their times")
    func proofs() {
        var session = Self.session()
        session.add([Self.proof(.push, at: 10)])
        session.add([Self.proof(.password, at: 20)])
        #expect(session.proofs.map(\.factor) == [.push, .password])
        #expect(session.proofs.map(\.time) == [Self.time(10), Self.time(20)])
    }

    @Test("A session stores each of its last 100 clients once, and never replaces the time of its last use with an earlier time")
    func clients() {
        var session = Self.session()
        for number in 0..<150 { session.use(by: .init(id: "app\(number)"), now: Self.time(50)) }
        session.use(by: .init(id: "app100"), now: Self.time(40))
        #expect(session.clients.count == 100)
        #expect(session.clients.first?.id == "app50")
        #expect(session.clients.last?.id == "app100")
        #expect(session.clients.count { $0.id == "app100" } == 1)
        #expect(session.lastUsedAt == Self.time(50))
    }

    @Test("A form token is valid only for one browser and one sign-in")
    func formToken() {
        let token = FormToken.make(browser: "b", transaction: "t")
        #expect(FormToken.isRight(token, browser: "b", transaction: "t"))
        for (text, browser, transaction) in [
            (token, "c", "t"), (token, "b", "u"), ("", "b", "t"), ("=", "b", "t"), (token + "A", "b", "t"),
        ] {
            #expect(!FormToken.isRight(text, browser: browser, transaction: transaction))
        }
        #expect(!FormToken.isRight(nil, browser: "b", transaction: "t"))
    }
}
