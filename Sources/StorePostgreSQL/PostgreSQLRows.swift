#if PostgreSQL
internal import Foundation
package import Store

/// The rows of a PostgreSQL database that no server uses, for `countersign store copy`.
package final class PostgreSQLRows: StoreRows {
    private let connection: PostgreSQLConnection
    private let configuration: PostgreSQLConfiguration

    /// Connects to a database that has the tables. Throws `StoreError` if the database cannot be reached or has no tables.
    package init(_ configuration: PostgreSQLConfiguration) throws {
        self.configuration = configuration
        connection = try PostgreSQLPool.connect(configuration)
        do {
            _ = try PostgreSQLSchema.check(connection, configuration, isComplete: true, forCopy: true)
        } catch {
            throw PostgreSQLPool.translated(error, configuration)
        }
    }

    package func configurationVersion() throws -> Int64 {
        let result = try run([PostgreSQLStatement("SELECT value FROM counters WHERE name = 'configuration'")])
        return result.rows.isEmpty ? 0 : result.integer(0, 0)
    }

    package func setConfigurationVersion(_ version: Int64) throws {
        _ = try run([PostgreSQLStatement("UPDATE counters SET value = $1 WHERE name = 'configuration'", [.integer(version)])])
    }

    package func isUnfinishedCopy() throws -> Bool {
        do { return try PostgreSQLSchema.isUnfinishedCopy(connection) } catch { throw PostgreSQLPool.translated(error, configuration) }
    }

    package func markCopy(isComplete: Bool) throws {
        let mark = "INSERT INTO counters (name, value) VALUES ('copying', 1) ON CONFLICT (name) DO NOTHING"
        _ = try run([PostgreSQLStatement(isComplete ? "DELETE FROM counters WHERE name = 'copying'" : mark)])
    }

    package func records(after last: CopiedRecord?, limit: Int) throws -> [CopiedRecord] {
        try records(
            "WHERE (kind, id) > ($1, $2) ORDER BY kind, id LIMIT $3",
            [.text(last?.kind ?? ""), .text(last?.id ?? ""), .integer(limit)])
    }

    package func record(kind: String, id: String) throws -> CopiedRecord? {
        try records("WHERE kind = $1 AND id = $2", [.text(kind), .text(id)]).first
    }

    package func lastRecord() throws -> CopiedRecord? { try records("ORDER BY kind DESC, id DESC LIMIT 1", []).first }

    package func tickets(after last: CopiedTicket?, limit: Int) throws -> [CopiedTicket] {
        try tickets(
            "WHERE (digest, kind) > ($1, $2) ORDER BY digest, kind LIMIT $3",
            [.bytes(last?.digest ?? []), .text(last?.kind ?? ""), .integer(limit)])
    }

    package func ticket(digest: [UInt8], kind: String) throws -> CopiedTicket? {
        try tickets("WHERE digest = $1 AND kind = $2", [.bytes(digest), .text(kind)]).first
    }

    package func lastTicket() throws -> CopiedTicket? { try tickets("ORDER BY digest DESC, kind DESC LIMIT 1", []).first }

    package func insert(_ records: [CopiedRecord], _ tickets: [CopiedTicket]) throws {
        let statements =
            try records.map { record in
                let keys = RecordKeys(u: record.uniqueKeys, i: record.indexedKeys)
                return PostgreSQLStatement(
                    keys.isEmpty ? PostgreSQLChange.SQL.insert : PostgreSQLChange.SQL.insertWithKeys,
                    [
                        .text(record.kind), .text(record.id), .integer(record.version), .number(record.expires), .text(try keys.text),
                        .bytes(record.payload),
                    ])
            }
            + tickets.map { ticket in
                PostgreSQLStatement(
                    "INSERT INTO tickets VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                    [
                        .bytes(ticket.digest), .text(ticket.kind), .text(ticket.owner[0]), .text(ticket.owner[1]), .text(ticket.use),
                        .number(ticket.expires), .bytes(ticket.payload), .integer(ticket.standing), .number(ticket.takenAt),
                        ticket.gave.map { .bytes($0) } ?? .null,
                    ])
            }
        _ = try run([PostgreSQLStatement("BEGIN")] + statements + [PostgreSQLStatement("COMMIT")])
    }

    private func records(_ rest: String, _ values: [PostgreSQLValue]) throws -> [CopiedRecord] {
        let found = try run([PostgreSQLStatement("SELECT kind, id, version, expires, keys::text, payload FROM records \(rest)", values)])
        return try found.rows.map { row in
            let keys = try RecordKeys(found.text(row, 4))
            return CopiedRecord(
                kind: found.text(row, 0), id: found.text(row, 1), version: found.integer(row, 2), expires: found.number(row, 3),
                uniqueKeys: keys.u, indexedKeys: keys.i, payload: found.bytes(row, 5))
        }
    }

    private func tickets(_ rest: String, _ values: [PostgreSQLValue]) throws -> [CopiedTicket] {
        let columns = "digest, kind, owner_kind, owner_id, use, expires, payload, standing, taken_at, gave"
        let found = try run([PostgreSQLStatement("SELECT \(columns) FROM tickets \(rest)", values)])
        return found.rows.map { row in
            CopiedTicket(
                digest: found.bytes(row, 0), kind: found.text(row, 1), owner: [found.text(row, 2), found.text(row, 3)],
                use: found.text(row, 4), expires: found.number(row, 5), payload: found.bytes(row, 6), standing: found.integer(row, 7),
                takenAt: found.number(row, 8), gave: found.isNull(row, 9) ? nil : found.bytes(row, 9))
        }
    }

    /// Runs statements and returns the result of the last one.
    private func run(_ statements: [PostgreSQLStatement]) throws -> PostgreSQLResult {
        do {
            switch try connection.run(statements) {
            case .results(let results): return results[results.count - 1]
            case .failed(_, let error):
                if statements.count > 1 { try connection.post([PostgreSQLStatement("ROLLBACK")]) }
                throw error
            }
        } catch {
            throw PostgreSQLPool.translated(error, configuration)
        }
    }
}
#endif
