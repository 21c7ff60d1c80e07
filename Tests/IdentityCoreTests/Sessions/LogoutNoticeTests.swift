import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import Store

/// Tests the notifications that wait in the store until an application received them.
@Suite("Waiting back-channel logouts")
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
        try await org.engine.claimLogouts(limit: limit, context: SignInFixture.context(at: seconds))
    }

    private func complete(_ logout: BackchannelLogout, _ result: LogoutDeliveryResult, at seconds: TimeInterval) async throws {
        try await org.engine.completeLogout(logout, result, context: SignInFixture.context(at: seconds))
    }

    private func waiting() async throws -> Int { try await org.store.read { try $0.allRecords(.logoutNotice).count } }

    private func failures() async throws -> [String?] {
        try await org.log().filter { $0.type == "user.session.end.notice" }.map(\.reason)
    }

    @Test("A claimed notification has a token for its application and session, and is removed when it was delivered")
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

    @Test("A failed delivery is repeated after one, five and thirty minutes, with the same id and a new token; then the server gives up")
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

    @Test("A notification that the application refuses is not sent again, and the system log records it")
    func refused() async throws {
        try await endSessions()
        let logout = try #require(try await claim(at: 2).first)
        try await complete(logout, .refused(reason: "status 400"), at: 3)
        #expect(try await waiting() == 0)
        #expect(try await failures() == ["status 400"])
    }

    @Test("A claim without a report expires after three minutes, and a late report has no effect on the next claim")
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

    @Test("A notification whose every delivery ended without a report is given up after the fourth")
    func lostReports() async throws {
        try await endSessions()
        for round in 0..<4 { #expect(try await claim(at: 2 + Double(round) * 180).count == 1) }
        #expect(try await claim(at: 2 + 4 * 180).isEmpty)
        #expect(try await waiting() == 0)
        #expect(try await failures() == ["the last delivery did not end"])
    }

    @Test("An interrupted delivery is due at once and does not count")
    func interrupted() async throws {
        try await endSessions()
        for second in 2..<20 {
            let logout = try #require(try await claim(at: Double(second)).first)
            try await complete(logout, .interrupted, at: Double(second))
        }
        #expect(try await waiting() == 1)
    }

    @Test("Servers that claim concurrently never get the same notification")
    func concurrentClaims() async throws {
        try await endSessions(40)
        let engines = [org.engine] + (0..<3).map { Engine(store: org.store, environment: SignInFixture.environment(seed: 10 + $0)) }
        let claimed = try await withThrowingTaskGroup(of: [String].self) { group in
            for engine in engines {
                for _ in 0..<5 {
                    group.addTask { try await engine.claimLogouts(limit: 4, context: SignInFixture.context(at: 2)).map(\.id) }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(claimed.count == Set(claimed).count)
        let rest = try await claim(at: 2).map(\.id)
        #expect(Set(claimed + rest).count == 40)
    }

    @Test("The notifications of an application that cannot be reached do not hide those of another one")
    func hidden() async throws {
        try await endSessions(1_100)
        let failing = try await claim(at: 2, limit: 2_000)
        #expect(failing.count == 1_100)
        // All but the one with the last id wait for their next delivery.
        let last = try #require(failing.map(\.id).max())
        for logout in failing where logout.id != last { try await complete(logout, .failed(reason: "unreachable"), at: 3) }
        try await complete(try #require(failing.first { $0.id == last }), .interrupted, at: 3)
        #expect(try await claim(at: 4, limit: 1).map(\.id) == [last])
    }

    @Test("A notification is dropped if the organization no longer has the application or its logout URI")
    func removedAddress() async throws {
        try await endSessions()
        var definition = SignInFixture.definition
        definition.applications[0].backchannelLogoutURI = nil
        _ = try await org.engine.apply(definition, context: SignInFixture.context(at: 2))
        #expect(try await claim(at: 3).isEmpty)
        #expect(try await waiting() == 0)
    }
}
