#if PostgreSQL
internal import Foundation
internal import Store

/// The rows of one snapshot, for use on the connection's thread during the read. A call that the lookup does not cover takes a round trip.
struct PostgreSQLView: StoreView {
    private let connection: PostgreSQLConnection
    private let found: (version: Int64, rows: FoundRows)?

    /// Creates the view of a read.
    /// - Parameter found: The rows of the read's lookup, and the version of the configuration; `nil` for a read without a lookup.
    init(_ connection: PostgreSQLConnection, found: (version: Int64, rows: FoundRows)? = nil) {
        self.connection = connection
        self.found = found
    }

    func configurationVersion() throws -> Int64 {
        if let found { return found.version }
        let version = try rows(PostgreSQLStatement("SELECT value FROM counters WHERE name = 'configuration'"))
        return version.rows.isEmpty ? 0 : version.integer(0, 0)
    }

    func record(_ kind: RecordKind, id: String) throws -> Record? {
        guard !id.utf8.contains(0) else { return nil }
        if let known = found?.rows.record(kind, id) { return known }
        return try records(kind, "SELECT \(Self.columns) FROM records r WHERE kind = $1 AND id = $2", [.text(id)]).first
    }

    func records(_ kind: RecordKind, where key: String, is value: String, limit: Int) throws -> [Record] {
        guard !value.utf8.contains(0) else { return [] }
        if let known = found?.rows.list(kind, where: key, is: value, limit: limit) { return known }
        return try records(
            kind,
            """
            SELECT \(Self.columns) FROM record_keys k JOIN records r ON r.kind = k.kind AND r.id = k.id
            WHERE k.kind = $1 AND k.name = $2 AND k.value = $3 ORDER BY k.id LIMIT $4
            """, [.text(key), .text(value), .integer(limit)])
    }

    func records(_ kind: RecordKind, after id: String?, limit: Int) throws -> [Record] {
        try records(
            kind, "SELECT \(Self.columns) FROM records r WHERE kind = $1 AND id > $2 ORDER BY id LIMIT $3",
            [.text(id ?? ""), .integer(limit)])
    }

    func ticket(_ kind: TicketKind, digest: TicketDigest, now: Date) throws -> TicketState {
        if let known = found?.rows.ticket(kind, digest, now: now) { return known }
        let row = try rows(
            PostgreSQLStatement(
                "SELECT owner_kind, owner_id, use, expires, payload, standing, taken_at, gave FROM tickets WHERE digest = $1 AND kind = $2",
                [.bytes(digest.bytes), .text(kind.rawValue)]))
        guard !row.rows.isEmpty else { return .unknown }
        return try StoredTicket(
            kind, digest, owner: (row.text(0, 0), row.text(0, 1)), use: row.text(0, 2), expiresAt: row.time(0, 3), payload: row.bytes(0, 4),
            standing: row.integer(0, 5), takenAt: row.time(0, 6), gave: row.bytes(0, 7)
        ).state(now: now)
    }

    /// Returns the name of a unique key of the record that another record has; `nil` if there is none.
    func duplicate(of record: Record) throws -> String? {
        for (name, value) in record.uniqueKeys.sorted(by: { $0.key < $1.key }) {
            let found = try rows(
                PostgreSQLStatement(
                    "SELECT 1 FROM record_keys WHERE kind = $1 AND name = $2 AND value = $3 AND is_unique AND id <> $4",
                    [.text(record.kind.rawValue), .text(name), .text(value), .text(record.id)]))
            if !found.rows.isEmpty { return name }
        }
        return nil
    }

    private static let columns = "r.id, r.version, r.expires, r.keys::text, r.payload"

    private func records(_ kind: RecordKind, _ sql: String, _ values: [PostgreSQLValue]) throws -> [Record] {
        let found = try rows(PostgreSQLStatement(sql, [.text(kind.rawValue)] + values))
        return try found.rows.map { row in
            let keys = try RecordKeys(found.text(row, 3))
            return Record(
                kind: kind, id: found.text(row, 0), version: found.integer(row, 1), uniqueKeys: keys.u, indexedKeys: keys.i,
                expiresAt: found.time(row, 2), payload: found.bytes(row, 4))
        }
    }

    private func rows(_ statement: PostgreSQLStatement) throws -> PostgreSQLResult {
        switch try connection.run([statement]) {
        case .results(let results): return results[0]
        case .failed(_, let error): throw error
        }
    }
}
#endif
