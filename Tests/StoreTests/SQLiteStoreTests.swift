import Foundation
import GRDB
import Store
import StoreSQLite
import Testing

@Suite("SQLite store")
struct SQLiteStoreTests {
    @Test("Committed data is present after the database file is closed and opened again")
    func reopen() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "deep/er/store.sqlite").path
            let first = try SQLiteStore(path: path)
            _ = try await first.commit([.put(.user("u1", login: "jane")), .issue(.refresh("r"))])
            try await first.close()
            let second = try SQLiteStore(path: path)
            #expect(try await second.record(.user, "u1")?.uniqueKeys == ["login": "jane"])
            #expect(try await second.state("r") == .fresh(.refresh("r")))
            try await second.close()
        }
    }

    @Test("Only the owner can read the database file and its folder")
    func modes() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "data/store.sqlite").path
            let store = try SQLiteStore(path: path)
            _ = try await store.commit([.put(.user("u1"))])
            for (file, mode) in [("data", 0o700), ("data/store.sqlite", 0o600), ("data/store.sqlite-wal", 0o600)] {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: file).path)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(file)")
            }
            try await store.close()
        }
    }

    @Test("Two stores on one database file see each other's commits, and of concurrent attempts to take a ticket exactly one succeeds")
    func twoOpeners() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "store.sqlite").path
            let stores = try [SQLiteStore(path: path), SQLiteStore(path: path)]
            let secrets = (0..<20).map { "secret \($0)" }
            _ = try await stores[0].commit(secrets.map { .issue(.refresh($0)) })
            #expect(try await stores[1].state(secrets[0]) == .fresh(.refresh(secrets[0])))
            for secret in secrets {
                let outcomes = try await race(10) {
                    try await stores[$0 % 2].commit([
                        .take(.refreshToken, digest: TicketDigest(of: secret), now: Date(timeIntervalSince1970: 1), gave: [])
                    ])
                }
                #expect(outcomes.filter { $0 == .committed }.count == 1)
            }
            let before = try await stores[0].read { try $0.configurationVersion() }
            _ = try await stores[1].commit([.put(Record(kind: .application, id: "a", payload: []))])
            #expect(try await stores[0].read { try $0.configurationVersion() } > before)
            for store in stores { try await store.close() }
        }
    }

    @Test("Concurrent commits that share a database transaction succeed or conflict independently")
    func independentOutcomes() async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteStore(path: folder.appending(path: "store.sqlite").path)
            _ = try await store.commit([.put(.user("taken"))])
            let outcomes = try await race(200) { number in
                let isBad = number % 3 == 0
                let outcome = try await store.commit([.put(.user("u\(number)")), .put(.user(isBad ? "taken" : "v\(number)"))])
                return (number, outcome, isBad)
            }
            for (number, outcome, isBad) in outcomes {
                #expect(outcome == (isBad ? .conflict(index: 1, .version(stored: 1)) : .committed))
                #expect(try await (store.record(.user, "u\(number)") == nil) == isBad)
            }
            try await store.close()
        }
    }

    @Test("A prepared commit that fails or never arrives does not block other commits")
    func announced() async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteStore(path: folder.appending(path: "store.sqlite").path)
            struct Failure: Error {}
            await #expect(throws: Failure.self) { try await store.preparingCommit { throw Failure() } }
            try await withThrowingTaskGroup(of: CommitOutcome.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let record = await store.preparingCommit {
                            await Task.yield()
                            return Record.user("u\(number)")
                        }
                        return number % 10 == 0 ? .committed : try await store.commit([.put(record)])
                    }
                }
                for try await outcome in group { #expect(outcome == .committed) }
            }
            // While one caller prepares its commit endlessly, others can still commit.
            let (stream, end) = AsyncStream<Void>.makeStream()
            let endless = Task { await store.preparingCommit { for await _ in stream {} } }
            #expect(try await store.commit([.put(.user("last"))]) == .committed)
            end.finish()
            await endless.value
            #expect(try await store.read { try $0.records(.user, after: nil, limit: 200).count } == 91)
            try await store.close()
        }
    }

    @Test("An SQLite database of a newer version is rejected and not changed")
    func newerVersion() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "store.sqlite").path
            try await SQLiteStore(path: path).close()
            let queue = try DatabaseQueue(path: path)
            try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99 from the future')") }
            try queue.close()
            #expect(throws: StoreError(.newerVersion, "")) { try SQLiteStore(path: path) }
            let again = try DatabaseQueue(path: path)
            #expect(try await again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM grdb_migrations") } == 2)
        }
    }

    @Test("If the file is not a database, the error names the file, and the file is not changed")
    func noDatabase() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "store.sqlite")
            let content = Data("this is a letter, not a database, and it is long enough to be looked at by SQLite".utf8)
            try content.write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let error = #expect(throws: StoreError.self) { try SQLiteStore(path: file.path) }
            #expect(error?.code == .damaged)
            #expect(error?.message.contains(file.path) == true)
            #expect(try Data(contentsOf: file) == content)
        }
    }

    @Test("Opening a database is rejected if others can read the file or write to the folder, or if the path is a symbolic link")
    func unsafeFiles() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appending(path: "data")
            let file = data.appending(path: "store.sqlite")
            try await SQLiteStore(path: file.path).close()
            let content = try Data(contentsOf: file)
            let names = try FileManager.default.contentsOfDirectory(atPath: data.path).sorted()
            for (path, mode, usual) in [
                (file.path, 0o644, 0o600), (file.path, 0o620, 0o600), (data.path, 0o720, 0o700), (data.path, 0o777, 0o700),
            ] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                let error = #expect(throws: StoreError(.unsafeFile, "")) { try SQLiteStore(path: file.path) }
                #expect(error?.message.contains("chmod \(String(usual, radix: 8)) \(path)") == true, "\(error?.message ?? "")")
                let kept = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(kept == mode)
                try FileManager.default.setAttributes([.posixPermissions: usual], ofItemAtPath: path)
            }
            let link = data.appending(path: "link.sqlite")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            #expect(throws: StoreError(.unsafeFile, "")) { try SQLiteStore(path: link.path) }
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == file.path)
            #expect(try Data(contentsOf: file) == content)
            #expect(try FileManager.default.contentsOfDirectory(atPath: data.path).sorted() == (names + ["link.sqlite"]).sorted())
            try await SQLiteStore(path: file.path).close()
        }
    }

    @Test("If the database folder cannot be created, the error names the folder")
    func unusableFolder() {
        let error = #expect(throws: StoreError(.unavailable, "")) { try SQLiteStore(path: "/dev/null/data/store.sqlite") }
        #expect(error?.message.contains("/dev/null/data") == true)
    }

    @Test("The records and tickets of an SQLite database of format 1 are read correctly")
    func formatOne() async throws {
        let fixture = try #require(Bundle.module.url(forResource: "format-1", withExtension: "sqlite", subdirectory: "Fixtures"))
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "store.sqlite")
            try FileManager.default.copyItem(at: fixture, to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let store = try SQLiteStore(path: file.path)
            let expected = Record(
                kind: .user, id: "00u1", version: 1, uniqueKeys: ["login": "jane.doe@example.com"], indexedKeys: ["group": "staff"],
                expiresAt: Date(timeIntervalSince1970: 4_102_444_800), payload: Array("{\"a\":1}".utf8))
            #expect(try await store.record(.user, "00u1") == expected)
            let ticket = Ticket.refresh(
                "format-1 secret", owner: "gra1", expiresAt: Date(timeIntervalSince1970: 4_102_444_800), payload: [1, 0])
            #expect(try await store.state("format-1 secret") == .taken(ticket, at: Date(timeIntervalSince1970: 1000.5), gave: [9, 8]))
            #expect(try await store.read { try $0.configurationVersion() } == 1)
            try await store.close()
        }
    }
}
