import Foundation
import Testing

@testable import IdentityCore
@testable import Store

@Suite("System log")
struct SystemLogTests {
    private static let start = SignInFixture.start

    private func filled() async throws -> SignInFixture {
        let org = try await SignInFixture()
        var changes: [Change] = []
        for index in 0..<1_200 {
            changes.append(
                try org.engine.logEntry(
                    LoggedEvent(
                        index % 3 == 0 ? "token.grant.refresh" : "user.authentication.password", .success, reason: "\(index)",
                        userID: index % 2 == 0 ? "even" : "odd"), context: SignInFixture.context(at: TimeInterval(index + 1))))
        }
        _ = try await org.store.commit(changes)
        return org
    }

    @Test("The system log is read in pages, oldest first, without gaps or duplicates")
    func pages() async throws {
        let org = try await filled()
        var query = SystemLogQuery(since: Self.start.addingTimeInterval(1), limit: 500)
        var reasons: [String?] = []
        var pages = 0
        repeat {
            let page = try await org.engine.systemLog(query)
            reasons += page.events.map(\.reason)
            query.after = page.next
            pages += 1
        } while query.after != nil
        #expect(reasons == (0..<1_200).map { "\($0)" })
        #expect(pages == 3)
    }

    @Test("A query of the system log filters by time, user and event type")
    func filters() async throws {
        let org = try await filled()
        let page = try await org.engine.systemLog(
            SystemLogQuery(
                since: Self.start.addingTimeInterval(101), until: Self.start.addingTimeInterval(121), userID: "even",
                typePrefix: "token."))
        #expect(page.events.map(\.reason) == ["102", "108", "114"])
        #expect(page.next == nil)
    }

    @Test("A query of the system log with a cursor before its start reads no event before the start")
    func earlyCursor() async throws {
        let org = try await filled()
        let first = try #require(try await org.engine.systemLog(SystemLogQuery(since: .distantPast, limit: 1)).events.first)
        let page = try await org.engine.systemLog(
            SystemLogQuery(since: Self.start.addingTimeInterval(1_101), limit: 1_000, after: first.id))
        #expect(page.events.map(\.reason) == (1_100..<1_200).map { "\($0)" })
        #expect(page.scanned == 100)
    }

    @Test("System log events are removed after 90 days")
    func retention() async throws {
        let org = try await filled()
        _ = try await org.store.removeExpired(now: Self.start.addingTimeInterval(90 * 86_400 + 600.5), limit: 10_000)
        let left = try await org.engine.systemLog(SystemLogQuery(since: .distantPast, limit: 1_000)).events
        #expect(left.count == 600)
        #expect(left.first?.reason == "600")
    }

    @Test("A line of the system log expires after the retention time of the configuration")
    func configuredRetention() async throws {
        let org = try await SignInFixture { $0.systemLog.retentionDays = 400 }
        _ = try await org.signIn(at: 10)
        let count = try await org.log().filter { $0.type.hasPrefix("user.authentication") }.count
        #expect(count > 0)
        _ = try await org.store.removeExpired(now: Self.start.addingTimeInterval(400 * 86_400), limit: 10_000)
        #expect(try await org.log().filter { $0.type.hasPrefix("user.authentication") }.count == count)
        _ = try await org.store.removeExpired(now: Self.start.addingTimeInterval(400 * 86_400 + 11), limit: 10_000)
        #expect(try await org.log().filter { $0.type.hasPrefix("user.authentication") }.isEmpty)
    }

    @Test("A shorter retention time also removes lines that were written before, in batches and none that are younger")
    func shorterRetention() async throws {
        let org = try await filled()
        var definition = SignInFixture.definition
        definition.systemLog.retentionDays = 1
        _ = try await org.engine.apply(definition, context: SignInFixture.context(at: 2_000))
        // The lines of the first 600 seconds are older than a day, and so is the line of the first apply.
        let now = Self.start.addingTimeInterval(86_400 + 600.5)
        var removed: [Int] = []
        repeat { removed.append(try await org.engine.removeExpired(now: now, limit: 250)) } while removed.last == 250
        #expect(removed.reduce(0, +) == 601)
        let left = try await org.engine.systemLog(SystemLogQuery(since: .distantPast, limit: 1_000)).events
        #expect(left.first?.reason == "600" && left.count == 601)
    }

    @Test("Without an organization, the clean-up removes expired rows and does not fail")
    func cleanUpWithoutOrganization() async throws {
        let engine = Engine(store: InMemoryStore(), environment: SignInFixture.environment())
        #expect(try await engine.removeExpired(now: Self.start, limit: 100) == 0)
    }

    @Test("A descending query returns the latest log events first, without gaps or duplicates, also with 6,000 events in one second")
    func latestFirst() async throws {
        let org = try await SignInFixture()
        var changes: [Change] = []
        for index in 0..<6_000 {
            let event = LoggedEvent("a", .success, reason: "\(index)")
            changes.append(try org.engine.logEntry(event, context: SignInFixture.context(at: 10 + Double(index) / 6_000)))
        }
        _ = try await org.store.commit(changes)
        _ = try await org.store.commit([
            try org.engine.logEntry(LoggedEvent("a", .success, reason: "last"), context: SignInFixture.context(at: 7 * 86_400))
        ])
        var query = SystemLogQuery(
            since: Self.start, until: Self.start.addingTimeInterval(7 * 86_400 + 1), typePrefix: "a", limit: 1_000, isDescending: true)
        var reasons: [String?] = []
        repeat {
            let page = try await org.engine.systemLog(query)
            #expect(page.events.count <= 1_000)
            reasons += page.events.map(\.reason)
            query.after = page.next
        } while query.after != nil && reasons.count < 10_000
        #expect(reasons == ["last"] + (0..<6_000).reversed().map { "\($0)" })
    }
}
