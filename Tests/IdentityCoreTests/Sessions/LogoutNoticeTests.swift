import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import Store

/// Tests the notifications that wait in the store until an application received them.
@Suite("Pending back-channel logout notifications")
struct LogoutNoticeTests {
    private let org: SignInFixture
    private let jane: String

    init() async throws {
        org = try await SignInFixture { $0.applications[0].backchannelLogoutURI = "https://app.example.com/logout" }
        _ = try await org.engine.maintainKeys(SignInFixture.context())
        jane = try await org.stored().value.id
    }

    /// Ends this number of sessions of Jane, each with one notification.
    private func endSessions(_ count: Int = 1) async throws {
        let user = try await org.stored().value
        for index in 0..<count {
            var session = Session(
                id: "ses\(index)", of: user, proofs: [], policy: SessionPolicy(), secret: "secret\(index)", now: SignInFixture.start)
            session.use(by: Session.Client(id: "one"), now: SignInFixture.start)
            #expect(try await org.store.commit([.put(try session.record())]) == .committed)
        }
        #expect(try await org.engine.endSessions(ofUser: jane, context: SignInFixture.context(at: 1)) == count)
    }

    private func claim(at seconds: TimeInterval, limit: Int = 100) async throws -> [BackchannelLogout] {
        try await org.engine.claimLogouts(limit: limit, context: SignInFixture.context(at: seconds)).logouts
    }

    private func complete(_ logout: BackchannelLogout, _ result: LogoutDeliveryResult, at seconds: TimeInterval) async throws {
        try await org.engine.completeLogout(logout, result, context: SignInFixture.context(at: seconds))
    }

    private func waiting() async throws -> Int { try await org.store.read { try $0.allRecords(.logoutNotice).count } }

    private func failures() async throws -> [String?] {
        try await org.log().filter { $0.type == "user.session.end.notice" }.map(\.reason)
    }

    @Test("A claimed logout notification has a token for its application and session, and is removed after its delivery")
    func delivered() async throws {
        try await endSessions()
        let logout = try #require(try await claim(at: 2).first)
        let claims = try JSONValue(parsing: JSONWebSignature(parsing: logout.token).payload)
        #expect(claims["aud"] == "one" && claims["sub"] == .string(jane) && claims["sid"] == "ses0" && claims["jti"] == .string(logout.id))
        #expect(logout.uri == "https://app.example.com/logout" && logout.expiresAt == SignInFixture.start.addingTimeInterval(122))
        #expect(try await claim(at: 3).isEmpty)
        try await complete(logout, .delivered, at: 4)
        #expect(try await waiting() == 0)
        #expect(try await failures().isEmpty)
    }

    @Test("A failed logout notification is delivered again after one, five and thirty minutes with the same id, and then discarded")
    func repeated() async throws {
        try await endSessions()
        var (now, ids) = (2.0, Set<String>())
        for pause in [60.0, 300, 1_800] {
            let logout = try #require(try await claim(at: now).first)
            ids.insert(logout.id)
            #expect(logout.expiresAt == SignInFixture.start.addingTimeInterval(now + 120))
            try await complete(logout, .failed(reason: "status 500"), at: now)
            #expect(try await claim(at: now + pause - 1).isEmpty)
            now += pause
        }
        let last = try #require(try await claim(at: now).first)
        ids.insert(last.id)
        #expect(ids.count == 1)
        try await complete(last, .failed(reason: "status 500"), at: now)
        #expect(try await waiting() == 0)
        #expect(try await failures() == ["status 500"])
    }

    @Test("A logout notification that the application rejects is not sent again, and the system log records the rejection")
    func refused() async throws {
        try await endSessions()
        let logout = try #require(try await claim(at: 2).first)
        try await complete(logout, .refused(reason: "status 400"), at: 3)
        #expect(try await waiting() == 0)
        #expect(try await failures() == ["status 400"])
    }

    @Test("A claim of a logout notification without a report expires after three minutes, and a late report has no effect")
    func expiredClaim() async throws {
        try await endSessions()
        let first = try #require(try await claim(at: 2).first)
        #expect(try await claim(at: 181).isEmpty)
        let second = try #require(try await claim(at: 182).first)
        #expect(second.id == first.id)
        for late in [LogoutDeliveryResult.delivered, .failed(reason: "late"), .refused(reason: "late"), .interrupted] {
            try await complete(first, late, at: 183)
        }
        #expect(try await waiting() == 1)
        #expect(try await failures().isEmpty)
        try await complete(second, .delivered, at: 184)
        #expect(try await waiting() == 0)
    }

    @Test("A logout notification is discarded after four claims without a report, and the system log records the failure")
    func lostReports() async throws {
        try await endSessions()
        for round in 0..<4 { #expect(try await claim(at: 2 + Double(round) * 180).count == 1) }
        #expect(try await claim(at: 2 + 4 * 180).isEmpty)
        #expect(try await waiting() == 0)
        #expect(try await failures() == ["the last delivery did not end"])
    }

    @Test("A logout notification whose delivery was interrupted is due again immediately, and the attempt does not count")
    func interrupted() async throws {
        try await endSessions()
        for second in 2..<20 {
            let logout = try #require(try await claim(at: Double(second)).first)
            try await complete(logout, .interrupted, at: Double(second))
        }
        #expect(try await waiting() == 1)
    }

    @Test("Servers that claim logout notifications concurrently never get the same one")
    func concurrentClaims() async throws {
        try await endSessions(40)
        let engines = [org.engine] + (0..<3).map { Engine(store: org.store, environment: SignInFixture.environment(seed: 10 + $0)) }
        let claimed = try await withThrowingTaskGroup(of: [String].self) { group in
            for engine in engines {
                for _ in 0..<5 {
                    group.addTask { try await engine.claimLogouts(limit: 4, context: SignInFixture.context(at: 2)).logouts.map(\.id) }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(claimed.count == Set(claimed).count)
        let rest = try await claim(at: 2).map(\.id)
        #expect(Set(claimed + rest).count == 40)
    }

    @Test(
        "A server claims at most its limit of logout notifications per application, counting the notifications that it has already claimed")
    func share() async throws {
        try await endSessions(20)
        func claim(_ claimed: [String: Int]) async throws -> Int {
            try await org.engine.claimLogouts(limit: 32, limitPerClient: 8, claimed: claimed, context: SignInFixture.context(at: 2)).logouts
                .count
        }
        #expect(try await claim(["other": 8]) == 8)
        #expect(try await claim(["one": 5]) == 3)
        #expect(try await claim(["one": 8]) == 0)
    }

    @Test("A search for due logout notifications continues where the previous search ended, and finds every notification")
    func rotation() async throws {
        try await endSessions(450)
        var (position, found) = (String?.none, [String]())
        for _ in 0..<10 {
            // Each delivery is interrupted, so each notification stays due.
            let claim = try await org.engine.claimLogouts(after: position, limit: 45, context: SignInFixture.context(at: 2))
            for logout in claim.logouts { try await complete(logout, .interrupted, at: 2) }
            found += claim.logouts.map(\.id)
            position = claim.position
        }
        #expect(Set(found).count == 450)
        // A search that begins in the middle also finds the due notifications before that position.
        let middle = found.sorted()[200]
        #expect(try await org.engine.claimLogouts(after: middle, limit: 1_000, context: SignInFixture.context(at: 2)).logouts.count == 450)
    }

    @Test("Expired logout notifications of an application are all discarded in one claim, even beyond the limit per application")
    func outage() async throws {
        try await endSessions(300)
        var claim = try await org.engine.claimLogouts(limit: 300, context: SignInFixture.context(at: 2)).logouts
        for logout in claim { try await complete(logout, .interrupted, at: logout.id == claim.last?.id ? 90_000 : 2) }
        claim = try await org.engine.claimLogouts(limit: 32, limitPerClient: 8, context: SignInFixture.context(at: 82_801)).logouts
        #expect(claim.isEmpty)
        #expect(try await failures().count == 299)
        #expect(try await waiting() == 1)
    }

    @Test("A logout notification that has waited for 23 hours is discarded, and the system log records the failure")
    func waitedTooLong() async throws {
        try await endSessions(2)
        #expect(try await claim(at: 1 + 82_799, limit: 1).count == 1)
        #expect(try await claim(at: 1 + 82_800).isEmpty)
        #expect(try await waiting() == 1)
        #expect(try await failures() == ["it waited too long"])
    }

    @Test("A due logout notification is found even if 1,099 other notifications of its application wait for their next delivery")
    func hidden() async throws {
        try await endSessions(1_100)
        let failing = try await claim(at: 2, limit: 2_000)
        #expect(failing.count == 1_100)
        // All notifications except the one with the last id wait for their next delivery.
        let last = try #require(failing.map(\.id).max())
        for logout in failing where logout.id != last { try await complete(logout, .failed(reason: "unreachable"), at: 3) }
        try await complete(try #require(failing.first { $0.id == last }), .interrupted, at: 3)
        #expect(try await claim(at: 4, limit: 1).map(\.id) == [last])
    }

    @Test("A logout notification is discarded if the organization no longer has the application's logout URI")
    func removedAddress() async throws {
        try await endSessions()
        var definition = SignInFixture.definition
        definition.applications[0].backchannelLogoutURI = nil
        _ = try await org.engine.apply(definition, context: SignInFixture.context(at: 2))
        #expect(try await claim(at: 3).isEmpty)
        #expect(try await waiting() == 0)
    }
}
