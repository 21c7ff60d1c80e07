#if PostgreSQL
import Foundation
import Store
import TestSupport
import Testing

@testable import StorePostgreSQL

@Suite("PostgreSQL store", .enabled(if: OutsidePart.postgreSQL.isEnabled, Comment(rawValue: OutsidePart.postgreSQL.missingNote)))
struct PostgreSQLStoreTests {
    private static let now = Date(timeIntervalSince1970: 1_000)

    private static func configuration(port: Int? = nil) async throws -> PostgreSQLConfiguration {
        let server = try await PostgreSQLServer.shared.value
        var url = try await server.newDatabase()
        try PostgreSQLSchema.migrate(PostgreSQLConfiguration(url: url))
        if let port { url = url.replacing(":\(server.port)/", with: ":\(port)/") }
        return PostgreSQLConfiguration(url: url)
    }

    @Test("Of concurrent commits by two servers on one version of a record, exactly one succeeds")
    func races() async throws {
        let configuration = try await Self.configuration()
        let stores = [try await PostgreSQLStore(configuration), try await PostgreSQLStore(configuration)]
        _ = try await stores[0].commit([.put(.user("u1"))])
        for version in 1...10 {
            let outcomes = try await withThrowingTaskGroup(of: CommitOutcome.self) { group in
                for index in 0..<16 {
                    group.addTask { try await stores[index % 2].commit([.put(.user("u1", version: Int64(version), login: "\(index)"))]) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == .committed } == 1)
            #expect(outcomes.count { $0 == .conflict(index: 0, .version(stored: Int64(version) + 1)) } == 15)
        }
        for store in stores { try await store.close() }
    }

    @Test("Of concurrent commits by two servers that take the same ticket, exactly one succeeds")
    func tickets() async throws {
        let configuration = try await Self.configuration()
        let stores = [try await PostgreSQLStore(configuration), try await PostgreSQLStore(configuration)]
        for number in 0..<10 {
            let ticket = Ticket.refresh("r\(number)")
            _ = try await stores[0].commit([.issue(ticket)])
            let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
                for index in 0..<16 {
                    group.addTask {
                        try await stores[index % 2].commit([
                            .take(.refreshToken, digest: ticket.digest, now: Self.now, gave: [UInt8(index)])
                        ]) == .committed
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(taken == 1)
        }
        for store in stores { try await store.close() }
    }

    @Test("Two concurrent commits that each create a record and require the absence of the other record never both succeed")
    func absence() async throws {
        let store = try await PostgreSQLStore(try await Self.configuration())
        for number in 0..<20 {
            let (name, other) = (RecordReference(.user, "a\(number)"), RecordReference(.user, "b\(number)"))
            async let first = store.commit([.unchanged(other, version: 0), .put(.user(name.id))])
            async let second = store.commit([.unchanged(name, version: 0), .put(.user(other.id))])
            let outcomes = try await [first, second]
            #expect(outcomes.count { $0 == .committed } == 1, "\(outcomes)")
            // The other commit wrote nothing.
            let stored = try await [store.record(.user, name.id), store.record(.user, other.id)]
            #expect(stored.map { $0 != nil } == outcomes.map { $0 == .committed })
        }
        try await store.close()
    }

    @Test("Of two concurrent commits that write the same two records in opposite order, exactly one succeeds")
    func deadlock() async throws {
        let store = try await PostgreSQLStore(try await Self.configuration())
        _ = try await store.commit([.put(.user("a")), .put(.user("b"))])
        var version: Int64 = 1
        for _ in 0..<20 {
            let (a, b) = (Record.user("a", version: version), Record.user("b", version: version))
            async let first = store.commit([.put(a), .put(b)])
            async let second = store.commit([.put(b), .put(a)])
            let outcomes = try await [first, second]
            #expect(outcomes.count { $0 == .committed } == 1, "\(outcomes)")
            version += 1
        }
        try await store.close()
    }

    @Test(
        "A PostgreSQL read makes one round trip for its declared rows, one per undeclared query and one at the end, and a commit makes one")
    func roundTrips() async throws {
        let proxy = try CuttingProxy(to: try await PostgreSQLServer.shared.value.port)
        var configuration = try await Self.configuration(port: proxy.port)
        configuration.connections = 1
        let store = try await PostgreSQLStore(configuration)
        _ = try await store.commit(LookupTests.records)
        // Returns the number of writes to the connection for a read. The commits before and after complete the reads on the connection.
        func cost(_ lookup: Lookup) async throws -> Int {
            _ = try await store.commit([])
            let before = proxy.writes
            try await store.read({ lookup }) { view in
                _ = try view.ticket(.refreshToken, digest: TicketDigest(of: "r"), now: Self.now)
                _ = try view.record(.grant, id: "g1")
                _ = try view.record(.user, id: "u1")
                _ = try view.records(.enrollment, where: "user", is: "u1", limit: 200)
            }
            _ = try await store.commit([])
            // The last write is that of the second commit.
            return proxy.writes - before - 1
        }
        #expect(try await cost(LookupTests.lookup) == 2)
        #expect(try await cost(Lookup()) == 6)
        let before = proxy.writes
        _ = try await store.commit([.put(.user("u9")), .issue(.refresh("r9")), .put(.user("u8", login: "l"))])
        #expect(proxy.writes - before == 1)
        try await store.close()
    }

    @Test("If the connection breaks after a commit, the store reports success and does not apply the commit twice")
    func lostAnswer() async throws {
        let proxy = try CuttingProxy(to: try await PostgreSQLServer.shared.value.port)
        let store = try await PostgreSQLStore(try await Self.configuration(port: proxy.port))
        proxy.cut(.after, "COMMIT")
        #expect(try await store.commit([.put(.user("u1"))]) == .committed)
        #expect(proxy.hasCut)
        #expect(try await store.record(.user, "u1")?.version == 1)
        try await store.close()
    }

    @Test("If the connection breaks before a commit reaches the database, the store sends the commit again")
    func lostRequest() async throws {
        let proxy = try CuttingProxy(to: try await PostgreSQLServer.shared.value.port)
        let store = try await PostgreSQLStore(try await Self.configuration(port: proxy.port))
        proxy.cut(.before, "COMMIT")
        #expect(try await store.commit([.put(.user("u1"))]) == .committed)
        #expect(proxy.hasCut)
        #expect(try await store.record(.user, "u1")?.version == 1)
        try await store.close()
    }

    @Test("If the connection breaks at the start of a read, the store repeats the read")
    func lostRead() async throws {
        let proxy = try CuttingProxy(to: try await PostgreSQLServer.shared.value.port)
        let store = try await PostgreSQLStore(try await Self.configuration(port: proxy.port))
        _ = try await store.commit([.put(.user("u1"))])
        proxy.cut(.after, "REPEATABLE READ")
        #expect(try await store.record(.user, "u1")?.version == 1)
        #expect(proxy.hasCut)
        try await store.close()
    }

    @Test("After the database server crashes and restarts, all acknowledged commits are present, and the same store instance works again")
    func crash() async throws {
        let server = try await PostgreSQLServer()
        let configuration = PostgreSQLConfiguration(url: try await server.newDatabase())
        try PostgreSQLSchema.migrate(configuration)
        let store = try await PostgreSQLStore(configuration)
        for number in 0..<50 { _ = try await store.commit([.put(.user("u\(number)"))]) }
        try await server.crash()
        try await server.restart()
        let stored = try await store.read { try $0.records(.user, after: nil, limit: 100) }
        #expect(stored.count == 50)
        #expect(try await store.commit([.put(.user("u50"))]) == .committed)
        try await store.close()
    }

    @Test("If the database server is unreachable, opening the store fails, and the error names the server but not the password")
    func unreachable() async throws {
        let port = try SitePort().number
        var configuration = PostgreSQLConfiguration(url: "postgres://jane:s3cret-Pa55@127.0.0.1:\(port)/db?connect_timeout=1")
        configuration.reconnectTimeout = 0
        let error = await #expect(throws: StoreError.self) { try await PostgreSQLStore(configuration) }
        #expect(error?.code == .unreachable)
        let text = "\(try #require(error)) \(configuration) \(String(reflecting: configuration))"
        #expect(text.contains("postgres://jane@127.0.0.1:\(port)/db") && !text.contains("s3cret"))
    }

    @Test(
        "The password of a malformed database URL appears in no error and no description",
        arguments: [
            "postgres://jane:s3cret@nowhere.invalid:port/db", "postgres://jane:s3cret?x@127.0.0.1:1/db",
            "postgres://jane:s3cret/@127.0.0.1:1/db",
            "postgres://127.0.0.1:1/db?password=s3cret", "postgres://jane:s3cret@127.0.0.1:1/db?nonsense=1",
            "postgres://jane:%zzs3cret@[::1",
        ])
    func malformedURL(_ url: String) async throws {
        var configuration = PostgreSQLConfiguration(url: url)
        configuration.reconnectTimeout = 0
        let error = await #expect(throws: StoreError.self) { try await PostgreSQLStore(configuration) }
        #expect(!"\(try #require(error)) \(configuration) \(configuration.url)".contains("s3cret"))
        #expect(DatabaseURL(url).hasPassword)
    }

    @Test("The default TLS mode is prefer for a database on the same machine, and verify-full for any other database")
    func verifiesTLS() {
        for local in [
            "postgres:///db", "postgres://localhost,127.0.0.1:5433/db", "postgres://jane@[::1]:5432/db", "postgres://%2Frun%2Fpg/db",
        ] {
            #expect(PostgreSQLConfiguration(url: local).defaultTLSMode == "prefer", "\(local)")
        }
        for other in ["postgres://db.example.com/db", "postgres://localhost,db2/db", "postgres:///db?host=db3", "postgres://a:b@10.0.0.1"] {
            #expect(PostgreSQLConfiguration(url: other).defaultTLSMode == "verify-full", "\(other)")
        }
    }

    @Test("Behind PgBouncer in transaction mode, concurrent reads and commits see the correct record versions")
    func pooler() async throws {
        let configuration = try await Self.configuration()
        let pooler = try await ConnectionPooler(to: PostgreSQLServer.shared.value)
        var pooled = PostgreSQLConfiguration(url: pooler.url(of: configuration.place))
        pooled.connections = 16
        let store = try await PostgreSQLStore(pooled)
        for number in 0..<16 { _ = try await store.commit([.put(.user("u\(number)"))]) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                group.addTask {
                    for version in 1...20 {
                        #expect(try await store.record(.user, "u\(number)")?.version == Int64(version))
                        let stale = try await store.commit([.put(.user("u\(number)", version: Int64(version + 5)))])
                        #expect(stale == .conflict(index: 0, .version(stored: Int64(version))))
                        #expect(try await store.commit([.put(.user("u\(number)", version: Int64(version)))]) == .committed)
                    }
                }
            }
            try await group.waitForAll()
        }
        try await store.close()
    }

    @Test("Opening a database without tables fails, and the error names the command that creates the tables")
    func noTables() async throws {
        let url = try await PostgreSQLServer.shared.value.newDatabase()
        let error = await #expect(throws: StoreError.self) { try await PostgreSQLStore(PostgreSQLConfiguration(url: url)) }
        #expect(error?.message.contains("countersign store migrate") == true)
    }

    @Test("Four concurrent migrations create the tables of an empty database without an error")
    func concurrentMigrations() async throws {
        let configuration = PostgreSQLConfiguration(url: try await PostgreSQLServer.shared.value.newDatabase())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try PostgreSQLSchema.migrate(configuration) } }
            try await group.waitForAll()
        }
        let store = try await PostgreSQLStore(configuration)
        #expect(try await store.commit([.put(.user("u1"))]) == .committed)
        try await store.close()
    }

    @Test("A PostgreSQL database of a newer version is opened if its last migration permits the current version, and otherwise rejected")
    func newerVersion() async throws {
        let server = try await PostgreSQLServer.shared.value
        let configuration = try await Self.configuration()
        let database = try #require(configuration.place.split(separator: "/").last.map(String.init))
        let known = PostgreSQLSchema.migrations.count
        try await server.sql("INSERT INTO schema_migrations VALUES (\(known + 1), 'later', \(known))", in: database)
        try await PostgreSQLStore(configuration).close()
        try await server.sql("INSERT INTO schema_migrations VALUES (\(known + 2), 'much later', \(known + 1))", in: database)
        let error = await #expect(throws: StoreError.self) { try await PostgreSQLStore(configuration) }
        #expect(error?.code == .newerVersion)
    }

    @Test("Two concurrent clean-ups remove each expired record once")
    func concurrentCleanUp() async throws {
        let configuration = try await Self.configuration()
        let stores = [try await PostgreSQLStore(configuration), try await PostgreSQLStore(configuration)]
        for number in 0..<200 { _ = try await stores[0].commit([.put(.user("u\(number)", login: "l\(number)", expiresAt: Self.now))]) }
        async let first = stores[0].removeExpired(now: Self.now, limit: 500)
        async let second = stores[1].removeExpired(now: Self.now, limit: 500)
        let removed = try await first + second
        #expect(removed == 200)
        #expect(try await stores[0].read { try $0.records(.user, where: "login", is: "l7", limit: 1) }.isEmpty)
        for store in stores { try await store.close() }
    }
}
#endif
