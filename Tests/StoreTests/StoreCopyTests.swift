import Foundation
import Store
import StoreSQLite
import TestSupport
import Testing

#if PostgreSQL
import StorePostgreSQL
#endif

@Suite("Copying a store")
struct StoreCopyTests {
    /// The folder of a copy: an SQLite source with data, and targets without data.
    private struct Places {
        let folder = TemporaryFolder()
        let source: SQLiteRows

        init() async throws {
            try FileManager.default.createDirectory(
                at: folder.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try await Self.fill(folder.file("source.sqlite").path)
            source = try SQLiteRows(path: folder.file("source.sqlite").path, creates: false)
        }

        func target(_ name: String = "target") throws -> SQLiteRows {
            try SQLiteRows(path: folder.file("\(name).sqlite").path, creates: true)
        }

        /// Stores more rows than a batch contains: records with unusual characters in their keys, several versions, and tickets in each
        /// state.
        private static func fill(_ path: String) async throws {
            let store = try SQLiteStore(path: path)
            let now = Date(timeIntervalSince1970: 1_800_000_000.25)
            for index in 0..<1_200 {
                var record = Record(
                    kind: .user, id: "user-\(index)", uniqueKeys: ["login": "ä:\"\(index)\"@example.com"], indexedKeys: ["group": "g:1"],
                    expiresAt: index % 2 == 0 ? now : nil, payload: Array("\(index)\u{0}".utf8))
                #expect(try await store.commit([.put(record)]) == .committed)
                if index % 3 == 0 {
                    record.version = 1
                    #expect(try await store.commit([.put(record)]) == .committed)
                }
            }
            for index in 0..<40 {
                let digest = TicketDigest(of: "secret \(index)")
                let ticket = Ticket(
                    kind: .refreshToken, digest: digest, owner: RecordReference(.user, "user-\(index)"), use: .once,
                    expiresAt: now.addingTimeInterval(60), payload: [0, UInt8(index)])
                #expect(try await store.commit([.issue(ticket)]) == .committed)
                if index % 4 == 1 {
                    #expect(try await store.commit([.take(.refreshToken, digest: digest, now: now, gave: [7])]) == .committed)
                }
                if index % 4 == 2 { #expect(try await store.commit([.close(.refreshToken, digest: digest)]) == .committed) }
            }
            #expect(try await store.commit([.put(Record(kind: .organization, id: "o", payload: [1]))]) == .committed)
            try await store.close()
        }

        /// Checks that a copy has the same rows as the source.
        func expectSame(_ copy: any StoreRows) throws {
            #expect(try source.records(after: nil, limit: 5_000) == copy.records(after: nil, limit: 5_000))
            #expect(try source.tickets(after: nil, limit: 5_000) == copy.tickets(after: nil, limit: 5_000))
            #expect(try source.configurationVersion() == copy.configurationVersion())
        }
    }

    /// A target whose connection is lost after some batches.
    private struct Interrupted: StoreRows {
        struct Lost: Error {}

        let inner: any StoreRows
        let batches = Countdown(2)

        func insert(_ records: [CopiedRecord], _ tickets: [CopiedTicket]) throws {
            guard batches.step() else { throw Lost() }
            try inner.insert(records, tickets)
        }

        func configurationVersion() throws -> Int64 { try inner.configurationVersion() }
        func setConfigurationVersion(_ version: Int64) throws { try inner.setConfigurationVersion(version) }
        func isUnfinishedCopy() throws -> Bool { try inner.isUnfinishedCopy() }
        func markCopy(isComplete: Bool) throws { try inner.markCopy(isComplete: isComplete) }
        func records(after last: CopiedRecord?, limit: Int) throws -> [CopiedRecord] { try inner.records(after: last, limit: limit) }
        func tickets(after last: CopiedTicket?, limit: Int) throws -> [CopiedTicket] { try inner.tickets(after: last, limit: limit) }
        func record(kind: String, id: String) throws -> CopiedRecord? { try inner.record(kind: kind, id: id) }
        func ticket(digest: [UInt8], kind: String) throws -> CopiedTicket? { try inner.ticket(digest: digest, kind: kind) }
        func lastRecord() throws -> CopiedRecord? { try inner.lastRecord() }
        func lastTicket() throws -> CopiedTicket? { try inner.lastTicket() }
    }

    private final class Countdown {
        private var left: Int

        init(_ count: Int) { left = count }

        func step() -> Bool {
            left -= 1
            return left >= 0
        }
    }

    @Test("A store copy contains every record and ticket with its version, keys, expiry and state, and can continue after an interruption")
    func resumed() async throws {
        let places = try await Places()
        let target = try places.target()
        #expect(throws: Interrupted.Lost.self) { try StoreCopy(from: places.source, to: Interrupted(inner: target)).run() }
        #expect(try target.records(after: nil, limit: 5_000).count == 1_000)
        // A server must not start with an incomplete copy.
        let path = places.folder.file("target.sqlite").path
        let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
        #expect(error?.message.contains("unfinished copy") == true)
        let report = try StoreCopy(from: places.source, to: target).run()
        try await SQLiteStore(path: path).close()
        #expect((report.records, report.tickets, report.digest.count) == (1_201, 40, 64))
        try places.expectSame(target)
        // Copying again to a complete copy is not an error.
        #expect(try StoreCopy(from: places.source, to: target).run() == report)
    }

    @Test(
        "Repeating a copy to a target that a server has used since is rejected and changes nothing, and a server can still open the target")
    func usedTarget() async throws {
        let places = try await Places()
        let target = try places.target()
        _ = try StoreCopy(from: places.source, to: target).run()
        let path = places.folder.file("target.sqlite").path
        let store = try SQLiteStore(path: path)
        #expect(try await store.commit([.put(Record(kind: .user, id: "new", payload: [1]))]) == .committed)
        try await store.close()
        let rows = try target.records(after: nil, limit: 5_000)
        let error = #expect(throws: StoreError.self) { try StoreCopy(from: places.source, to: target).run() }
        #expect(error?.message.contains("was not changed") == true)
        #expect(try target.records(after: nil, limit: 5_000) == rows)
        try await SQLiteStore(path: path).close()
    }

    @Test("An unfinished store copy is rejected as the source of another copy")
    func unfinishedSource() async throws {
        let places = try await Places()
        let part = try places.target()
        #expect(throws: Interrupted.Lost.self) { try StoreCopy(from: places.source, to: Interrupted(inner: part)).run() }
        let error = #expect(throws: StoreError.self) { try StoreCopy(from: part, to: try places.target("second")).run() }
        #expect(error?.message.contains("unfinished copy") == true)
    }

    @Test("A copy to a target with other data is rejected, and a copy that finally differs from its source fails with an error")
    func refused() async throws {
        let places = try await Places()
        let foreign = try places.target()
        try foreign.insert(
            [CopiedRecord(kind: "user", id: "other", version: 1, expires: nil, uniqueKeys: [:], indexedKeys: [:], payload: [])], [])
        let error = #expect(throws: StoreError.self) { try StoreCopy(from: places.source, to: foreign).run() }
        #expect(error?.message.contains("Name an empty database") == true)

        // The target has a row before its last one that the source lacks. Only the final comparison can find this row.
        let hidden = try places.target("hidden")
        try hidden.markCopy(isComplete: false)
        var last = try #require(try places.source.lastRecord())
        try hidden.insert([last], [])
        last.id = "a"
        last.uniqueKeys = [:]
        try hidden.insert([last], [])
        let difference = #expect(throws: StoreError.self) { try StoreCopy(from: places.source, to: hidden).run() }
        #expect(difference?.code == .invalid && difference?.message.contains("differs") == true)
    }

    #if PostgreSQL
    @Test(
        "A copy from SQLite to PostgreSQL and back has the same rows",
        .enabled(if: OutsidePart.postgreSQL.isEnabled, Comment(rawValue: OutsidePart.postgreSQL.missingNote)))
    func betweenDatabases() async throws {
        let places = try await Places()
        let configuration = PostgreSQLConfiguration(url: try await PostgreSQLServer.shared.value.newDatabase())
        try PostgreSQLSchema.migrate(configuration)
        let middle = try PostgreSQLRows(configuration)
        let report = try StoreCopy(from: places.source, to: middle).run()
        try places.expectSame(middle)
        let back = try places.target()
        #expect(try StoreCopy(from: middle, to: back).run() == report)
        try places.expectSame(back)
        // The records of the copy can be found by their keys.
        let store = try await PostgreSQLStore(configuration)
        let found = try await store.read { try $0.records(.user, where: "login", is: "ä:\"7\"@example.com", limit: 2) }
        #expect(found.map(\.id) == ["user-7"])
        try await store.close()
    }
    #endif
}
