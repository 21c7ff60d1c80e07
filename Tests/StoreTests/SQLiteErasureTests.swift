import Foundation
import GRDB
import Store
import StoreSQLite
import Testing

@Suite("Erasing replaced records from an SQLite database")
struct SQLiteErasureTests {
    /// Whether a file of the database contains a text.
    private static func contains(_ text: String, _ folder: URL) throws -> Bool {
        try ["store.sqlite", "store.sqlite-wal"].contains { name in
            try Data(contentsOf: folder.appending(path: name)).range(of: Data(text.utf8)) != nil
        }
    }

    @Test("While another process uses the database, erasing clears the bytes of replaced and removed records in the file and the log")
    func erased() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "store.sqlite").path
            // The longer payloads fill pages of their own.
            let sizes = [100, 3_000, 9_000]
            func payload(_ index: Int, _ word: String) -> String { "\(word)\(index)" + String(repeating: "x", count: sizes[index / 2]) }
            let first = try SQLiteStore(path: path)
            for index in 0..<6 { _ = try await first.commit([.put(.user("u\(index)", payload: payload(index, "canary")))]) }
            // The end of the last user of the file moves the log into the file.
            try await first.close()
            let (server, command) = (try SQLiteStore(path: path), try SQLiteStore(path: path))
            for index in 0..<6 {
                let id = "u\(index)"
                let replacement = Record.user(id, version: 1, payload: payload(index, "second"))
                _ = try await server.commit([index % 2 == 0 ? .put(replacement) : .remove(.user, id: id, version: 1)])
            }
            for index in [0, 2, 4] {
                _ = try await server.commit([.put(.user("u\(index)", version: 2, payload: payload(index, "new")))])
            }
            #expect(try Self.contains("canary", folder) && Self.contains("second", folder))
            #expect(try await command.eraseRemains() == .erased)
            #expect(try !Self.contains("canary", folder) && !Self.contains("second", folder))
            #expect(try await server.record(.user, "u4")?.payload == Array(payload(4, "new").utf8))
            #expect(try await server.record(.user, "u1") == nil)
            #expect(try await server.commit([.put(.user("later"))]) == .committed)
            try await command.close()
            try await server.close()
        }
    }

    @Test("While another process reads an earlier snapshot, erasing reports that the database is busy, and succeeds afterwards")
    func busy() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "store.sqlite").path
            let store = try SQLiteStore(path: path)
            _ = try await store.commit([.put(.user("u1", payload: "canary"))])
            var configuration = GRDB.Configuration()
            configuration.allowsUnsafeTransactions = true
            let reader = try DatabaseQueue(path: path, configuration: configuration)
            try reader.inDatabase { db in
                try db.execute(sql: "BEGIN")
                _ = try Row.fetchOne(db, sql: "SELECT id FROM records")
            }
            _ = try await store.commit([.put(.user("u1", version: 1, payload: "new"))])
            #expect(try await store.eraseRemains(waiting: 0) == .busy)
            #expect(try Self.contains("canary", folder))
            try reader.inDatabase { db in try db.execute(sql: "COMMIT") }
            #expect(try await store.eraseRemains(waiting: 5) == .erased)
            #expect(try !Self.contains("canary", folder))
            try reader.close()
            try await store.close()
        }
    }
}
