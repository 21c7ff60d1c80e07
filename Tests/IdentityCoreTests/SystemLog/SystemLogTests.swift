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

    @Test("System log events are removed after 90 days")
    func retention() async throws {
        let org = try await filled()
        _ = try await org.store.removeExpired(now: Self.start.addingTimeInterval(90 * 86_400 + 600.5), limit: 10_000)
        let left = try await org.engine.systemLog(SystemLogQuery(since: .distantPast, limit: 1_000)).events
        #expect(left.count == 600)
        #expect(left.first?.reason == "600")
    }

    @Test("The latest lines come first without gaps or duplicates, also before a quiet week with 6,000 lines in one second")
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
