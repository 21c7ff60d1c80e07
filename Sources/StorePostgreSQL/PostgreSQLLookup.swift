#if PostgreSQL
internal import Foundation
internal import Store

/// The one statement that answers a lookup, and the reading of its rows. The statement's text depends only on the lookup's shape; the
/// values are parameters.
struct PostgreSQLLookup {
    private let lookup: Lookup
    let statement: PostgreSQLStatement

    /// Creates the statement. Each node is a part with a number; a dependent node joins the part of its parent.
    init(_ lookup: Lookup) {
        self.lookup = lookup
        var values: [PostgreSQLValue] = []
        func parameter(_ value: PostgreSQLValue, _ type: String) -> String {
            values.append(value)
            return "$\(values.count)::\(type)"
        }
        let nodes = lookup.numbered
        let parts = nodes.enumerated().map { index, node in
            "n\(index) AS MATERIALIZED (\(Self.part(node.rows, above: node.parent.map { "n\($0)" } ?? "", parameter)))"
        }
        let selects = nodes.enumerated().map { index, node in
            if case .ticket = node.rows {
                "SELECT \(index), kind, owner_id, standing::bigint, expires, owner_kind, payload, use, taken_at, gave FROM n\(index)"
            } else {
                "SELECT \(index), kind, id, version, expires, keys::text, payload, NULL, NULL::double precision, NULL::bytea FROM n\(index)"
            }
        }
        let version = """
            SELECT -1, NULL, NULL, value, NULL::double precision, NULL, NULL::bytea, NULL, NULL::double precision, NULL::bytea
            FROM counters WHERE name = 'configuration'
            """
        let with = parts.isEmpty ? "" : "WITH \(parts.joined(separator: ",\n")) "
        statement = PostgreSQLStatement(with + ([version] + selects).joined(separator: "\nUNION ALL "), values)
    }

    private static func part(_ rows: Lookup.Rows, above: String, _ parameter: (PostgreSQLValue, String) -> String) -> String {
        func listed(_ kind: RecordKind, _ key: String, _ limit: Int, value: String) -> String {
            """
            SELECT r.* FROM record_keys k JOIN records r ON r.kind = k.kind AND r.id = k.id
            WHERE k.kind = \(parameter(.text(kind.rawValue), "text")) AND k.name = \(parameter(.text(key), "text")) AND k.value = \(value)
            ORDER BY k.id LIMIT \(parameter(.integer(limit), "bigint"))
            """
        }
        switch rows {
        case .ticket(let kind, let digest):
            return """
                SELECT * FROM tickets WHERE digest = \(parameter(.bytes(digest.bytes), "bytea"))
                AND kind = \(parameter(.text(kind.rawValue), "text"))
                """
        case .record(let kind, let id):
            return """
                SELECT * FROM records WHERE kind = \(parameter(.text(kind.rawValue), "text"))
                AND id = \(parameter(id.utf8.contains(0) ? .null : .text(id), "text"))
                """
        case .records(let kind, let key, let value, let limit):
            return listed(kind, key, limit, value: parameter(value.utf8.contains(0) ? .null : .text(value), "text"))
        case .owner: return "SELECT r.* FROM \(above) p JOIN records r ON r.kind = p.owner_kind AND r.id = p.owner_id"
        case .named(let kind, let key):
            let name = parameter(.text(key), "text")
            return """
                SELECT r.* FROM \(above) p JOIN records r ON r.kind = \(parameter(.text(kind.rawValue), "text"))
                AND r.id = coalesce(p.keys -> 'i' ->> \(name), p.keys -> 'u' ->> \(name))
                """
        case .listed(let kind, let key, let suffix, let limit):
            let value = suffix.isEmpty ? "p.id" : "p.id || \(parameter(.text(suffix), "text"))"
            return "SELECT r.* FROM \(above) p CROSS JOIN LATERAL (\(listed(kind, key, limit, value: value))) r"
        }
    }

    /// Reads the rows: the configuration's version, and the rows of each node.
    func found(in result: PostgreSQLResult) throws -> (version: Int64, rows: FoundRows) {
        var version: Int64 = 0
        var tickets: [Int: StoredTicket] = [:]
        var records: [Int: [Record]] = [:]
        let nodes = lookup.numbered
        for row in result.rows {
            let node = Int(result.integer(row, 0))
            guard node >= 0 else {
                version = result.integer(row, 3)
                continue
            }
            if case .ticket(let kind, let digest) = nodes[node].rows {
                tickets[node] = try result.ticket(row, kind, digest)
            } else if let record = try result.record(row) {
                records[node, default: []].append(record)
            }
        }
        let source = FoundRows.Source { node, _, _ in
            tickets[node]
        } record: { node, reference in
            records[node]?.first { $0.kind == reference.kind && $0.id == reference.id }
        } list: { node, _, key, value, _ in
            // The rows of several lists are ordered by id within each.
            records[node]?.filter { $0.uniqueKeys[key] == value || $0.indexedKeys[key] == value } ?? []
        }
        return (version, try FoundRows(lookup, from: source))
    }
}

extension PostgreSQLResult {
    /// Reads a ticket from a row of a lookup.
    fileprivate func ticket(_ row: Int32, _ kind: TicketKind, _ digest: TicketDigest) throws -> StoredTicket {
        try StoredTicket(
            kind, digest, owner: (text(row, 5), text(row, 2)), use: text(row, 7), expiresAt: time(row, 4), payload: bytes(row, 6),
            standing: integer(row, 3), takenAt: time(row, 8), gave: bytes(row, 9))
    }

    /// Reads a record from a row of a lookup; `nil` for a kind of a newer version.
    fileprivate func record(_ row: Int32) throws -> Record? {
        guard let kind = RecordKind(rawValue: text(row, 1)) else { return nil }
        let keys = try RecordKeys(text(row, 5))
        return Record(
            kind: kind, id: text(row, 2), version: integer(row, 3), uniqueKeys: keys.u, indexedKeys: keys.i, expiresAt: time(row, 4),
            payload: bytes(row, 6))
    }
}

extension StoredTicket {
    /// Reads a ticket's columns. Throws `StoreError` if they are damaged.
    init(
        _ kind: TicketKind, _ digest: TicketDigest, owner: (kind: String, id: String), use: String, expiresAt: Date?, payload: [UInt8],
        standing: Int64, takenAt: Date?, gave: [UInt8]
    ) throws {
        guard let ownerKind = RecordKind(rawValue: owner.kind), let use = Ticket.Use(rawValue: use) else {
            throw StoreError(.damaged, "A ticket of the kind \(kind.rawValue) cannot be read. Restore the database from a backup.")
        }
        let ticket = Ticket(
            kind: kind, digest: digest, owner: RecordReference(ownerKind, owner.id), use: use, expiresAt: expiresAt, payload: payload)
        let standing: Standing =
            switch standing {
            case 0: .open
            case 1: .taken(at: takenAt ?? .distantPast, gave: gave)
            default: .closed
            }
        self.init(ticket: ticket, standing: standing)
    }
}
#endif
