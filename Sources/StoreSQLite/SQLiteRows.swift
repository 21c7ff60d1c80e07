internal import Foundation
internal import GRDB
package import Store

/// The rows of an SQLite database that no server uses, for `countersign store copy`.
package final class SQLiteRows: StoreRows {
    private let queue: DatabaseQueue
    private let path: String

    /// Opens a database.
    /// - Parameter creates: Whether to create a missing database, with its tables.
    /// - Throws: `StoreError` if there is no database, or if it cannot be opened.
    package init(path: String, creates: Bool) throws {
        self.path = path
        do {
            if creates {
                try SQLiteStore.prepareFile(path)
                queue = try Connection.writer(path: path)
                try Schema.migrate(queue, path: path)
            } else {
                guard FileManager.default.fileExists(atPath: path) else {
                    throw StoreError(.unavailable, "There is no database \(path).")
                }
                queue = try Connection.reader(path: path)
            }
        } catch {
            throw Connection.error(error, path: path)
        }
    }

    package func configurationVersion() throws -> Int64 {
        try read { try Int64.fetchOne($0, sql: "SELECT value FROM counters WHERE name = 'configuration'") ?? 0 }
    }

    package func setConfigurationVersion(_ version: Int64) throws {
        try write { try $0.execute(sql: "UPDATE counters SET value = ? WHERE name = 'configuration'", arguments: [version]) }
    }

    package func isUnfinishedCopy() throws -> Bool { try read(Schema.isUnfinishedCopy) }

    package func markCopy(isComplete: Bool) throws {
        try write {
            try $0.execute(
                sql: isComplete
                    ? "DELETE FROM counters WHERE name = 'copying'" : "INSERT OR IGNORE INTO counters (name, value) VALUES ('copying', 1)")
        }
    }

    package func records(after last: CopiedRecord?, limit: Int) throws -> [CopiedRecord] {
        try records("WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT ?", [last?.kind ?? "", last?.id ?? "", limit])
    }

    package func record(kind: String, id: String) throws -> CopiedRecord? { try records("WHERE kind = ? AND id = ?", [kind, id]).first }

    package func lastRecord() throws -> CopiedRecord? { try records("ORDER BY kind DESC, id DESC LIMIT 1", []).first }

    package func tickets(after last: CopiedTicket?, limit: Int) throws -> [CopiedTicket] {
        try tickets("WHERE (digest, kind) > (?, ?) ORDER BY digest, kind LIMIT ?", [Data(last?.digest ?? []), last?.kind ?? "", limit])
    }

    package func ticket(digest: [UInt8], kind: String) throws -> CopiedTicket? {
        try tickets("WHERE digest = ? AND kind = ?", [Data(digest), kind]).first
    }

    package func lastTicket() throws -> CopiedTicket? { try tickets("ORDER BY digest DESC, kind DESC LIMIT 1", []).first }

    package func insert(_ records: [CopiedRecord], _ tickets: [CopiedTicket]) throws {
        try write { db in
            for record in records {
                let keys = StoredKeys(unique: record.uniqueKeys, indexed: record.indexedKeys)
                try db.execute(
                    sql: "INSERT INTO records (kind, id, version, expires, keys, payload) VALUES (?, ?, ?, ?, ?, ?)",
                    arguments: [record.kind, record.id, record.version, record.expires, keys.text, Data(record.payload)])
                for (isUnique, named) in [(true, record.uniqueKeys), (false, record.indexedKeys)] {
                    for (name, value) in named {
                        try db.execute(
                            sql: "INSERT INTO record_keys VALUES (?, ?, ?, ?, ?)",
                            arguments: [record.kind, name, value, record.id, isUnique])
                    }
                }
            }
            for ticket in tickets {
                try db.execute(
                    sql: "INSERT INTO tickets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    arguments: [
                        Data(ticket.digest), ticket.kind, ticket.owner[0], ticket.owner[1], ticket.use, ticket.expires,
                        Data(ticket.payload), ticket.standing, ticket.takenAt, ticket.gave.map { Data($0) },
                    ])
            }
        }
    }

    private func records(_ rest: String, _ arguments: StatementArguments) throws -> [CopiedRecord] {
        try read { db in
            try Row.fetchAll(db, sql: "SELECT kind, id, version, expires, keys, payload FROM records \(rest)", arguments: arguments).map {
                row in
                let keys = StoredKeys(row[4] as String)
                return CopiedRecord(
                    kind: row[0], id: row[1], version: row[2], expires: row[3], uniqueKeys: keys.unique, indexedKeys: keys.indexed,
                    payload: SQLiteView.bytes(row, 5))
            }
        }
    }

    private func tickets(_ rest: String, _ arguments: StatementArguments) throws -> [CopiedTicket] {
        let columns = "digest, kind, owner_kind, owner_id, use, expires, payload, standing, taken_at, gave"
        return try read { db in
            try Row.fetchAll(db, sql: "SELECT \(columns) FROM tickets \(rest)", arguments: arguments).map { row in
                CopiedTicket(
                    digest: SQLiteView.bytes(row, 0), kind: row[1], owner: [row[2], row[3]], use: row[4], expires: row[5],
                    payload: SQLiteView.bytes(row, 6), standing: row[7], takenAt: row[8],
                    gave: (row[9] as Data?).map { [UInt8]($0) })
            }
        }
    }

    private func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do { return try queue.read(body) } catch { throw Connection.error(error, path: path) }
    }

    private func write(_ body: (Database) throws -> Void) throws {
        do { try queue.write(body) } catch { throw Connection.error(error, path: path) }
    }
}
