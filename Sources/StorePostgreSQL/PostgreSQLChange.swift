#if PostgreSQL
internal import Foundation
internal import Store

/// The statements of a change. The statements of a commit are sent together, so no code can examine a result between them. Therefore a
/// compare-and-swap that hits no row divides by zero, which aborts the transaction.
enum PostgreSQLChange {
    static func statements(of change: Change) throws -> [PostgreSQLStatement] {
        switch change {
        case .put(let record): return try put(record)
        case .unchanged(let reference, let version): return unchanged(reference, version)
        case .remove(let kind, let id, let version):
            return [PostgreSQLStatement(SQL.remove, [.text(kind.rawValue), .text(id), .integer(version)])] + counting(kind)
        case .issue(let ticket):
            return [
                PostgreSQLStatement(
                    SQL.issue,
                    [
                        .bytes(ticket.digest.bytes), .text(ticket.kind.rawValue), .text(ticket.owner.kind.rawValue), .text(ticket.owner.id),
                        .text(ticket.use.rawValue), .time(ticket.expiresAt), .bytes(ticket.payload),
                    ])
            ]
        case .take(let kind, let digest, let now, let gave):
            return [PostgreSQLStatement(SQL.take, [.bytes(digest.bytes), .text(kind.rawValue), .time(now), .bytes(gave)])]
        case .retake(let kind, let digest, let now, let expected, let gave):
            return [
                PostgreSQLStatement(
                    SQL.retake, [.bytes(digest.bytes), .text(kind.rawValue), .time(now), .bytes(gave), .bytes(expected)])
            ]
        case .require(let kind, let digest, let now):
            return [PostgreSQLStatement(SQL.require, [.bytes(digest.bytes), .text(kind.rawValue), .time(now)])]
        case .requireConfiguration(let version): return [PostgreSQLStatement(SQL.requireConfiguration, [.integer(version)])]
        case .close(let kind, let digest): return [PostgreSQLStatement(SQL.close, [.bytes(digest.bytes), .text(kind.rawValue)])]
        case .closeTickets(let owner): return [PostgreSQLStatement(SQL.closeTickets, [.text(owner.kind.rawValue), .text(owner.id)])]
        }
    }

    private static func put(_ record: Record) throws -> [PostgreSQLStatement] {
        let names = [record.id] + record.uniqueKeys.flatMap { [$0, $1] } + record.indexedKeys.flatMap { [$0, $1] }
        guard !names.contains(where: { $0.utf8.contains(0) }) else {
            throw StoreError(
                .invalid, "A record of the kind \(record.kind.rawValue) has a NUL in its id or a key. Refuse such input earlier.")
        }
        let keys = RecordKeys(u: record.uniqueKeys, i: record.indexedKeys)
        let values: [PostgreSQLValue] = [
            .text(record.kind.rawValue), .text(record.id), .integer(record.version + 1), .time(record.expiresAt), .text(try keys.text),
            .bytes(record.payload),
        ]
        let sql = record.version > 0 ? SQL.update : keys.isEmpty ? SQL.insert : SQL.insertWithKeys
        return [PostgreSQLStatement(sql, values)] + counting(record.kind)
    }

    /// Locks the row until the commit. A record that must not exist is inserted and removed, so that a concurrent insertion waits.
    private static func unchanged(_ reference: RecordReference, _ version: Int64) -> [PostgreSQLStatement] {
        let name: [PostgreSQLValue] = [.text(reference.kind.rawValue), .text(reference.id)]
        guard version == 0 else { return [PostgreSQLStatement(SQL.unchanged, name + [.integer(version)])] }
        return [PostgreSQLStatement(SQL.insertPlaceholder, name), PostgreSQLStatement(SQL.removePlaceholder, name)]
    }

    private static func counting(_ kind: RecordKind) -> [PostgreSQLStatement] {
        kind.isConfiguration ? [PostgreSQLStatement("UPDATE counters SET value = value + 1 WHERE name = 'configuration'")] : []
    }

    /// Returns the reason why a change conflicted, after its transaction was rolled back.
    static func conflict(of change: Change, in view: PostgreSQLView) throws -> Conflict {
        switch change {
        case .put(let record):
            let stored = try view.record(record.kind, id: record.id)?.version ?? 0
            if stored == record.version, let name = try view.duplicate(of: record) { return .duplicateKey(name) }
            return .version(stored: stored)
        case .unchanged(let reference, _): return .version(stored: try view.record(reference.kind, id: reference.id)?.version ?? 0)
        case .remove(let kind, let id, _): return .version(stored: try view.record(kind, id: id)?.version ?? 0)
        case .issue(let ticket): return .ticket(try view.ticket(ticket.kind, digest: ticket.digest, now: .distantPast))
        case .take(let kind, let digest, let now, _), .retake(let kind, let digest, let now, _, _), .require(let kind, let digest, let now):
            return .ticket(try view.ticket(kind, digest: digest, now: now))
        case .requireConfiguration: return .configuration(stored: try view.configurationVersion())
        case .close, .closeTickets: return .contention
        }
    }
}

/// The keys of a record, in the format of the column `keys`.
struct RecordKeys: Codable {
    var u: [String: String]
    var i: [String: String]

    var isEmpty: Bool { u.isEmpty && i.isEmpty }

    var text: String { get throws { isEmpty ? "{}" : String(decoding: try JSONEncoder().encode(self), as: UTF8.self) } }

    init(u: [String: String], i: [String: String]) { (self.u, self.i) = (u, i) }

    init(_ text: String) throws {
        self = text == "{}" ? RecordKeys(u: [:], i: [:]) : try JSONDecoder().decode(RecordKeys.self, from: Data(text.utf8))
    }
}

extension PostgreSQLChange {
    enum SQL {
        static let insert = "INSERT INTO records (kind, id, version, expires, keys, payload) VALUES ($1, $2, $3, $4, $5::jsonb, $6)"
        static let insertWithKeys = """
            WITH written AS (\(insert))
            INSERT INTO record_keys (kind, name, value, id, is_unique)
            SELECT $1, key, value, $2, true FROM jsonb_each_text($5::jsonb -> 'u')
            UNION ALL SELECT $1, key, value, $2, false FROM jsonb_each_text($5::jsonb -> 'i')
            """
        /// Updates a record, and the rows of its keys only if the keys changed. All parts of the statement see the record as it was before
        /// the statement.
        static let update = """
            WITH old AS (SELECT keys FROM records WHERE kind = $1 AND id = $2 AND version = $3::bigint - 1 AND keys <> $5::jsonb),
            old_keys AS (SELECT key, value FROM old, jsonb_each_text(keys -> 'u') UNION ALL SELECT key, value FROM old, jsonb_each_text(keys -> 'i')),
            new_keys AS (
                SELECT key, value, true AS is_unique FROM old, jsonb_each_text($5::jsonb -> 'u')
                UNION ALL SELECT key, value, false FROM old, jsonb_each_text($5::jsonb -> 'i')),
            dropped AS (
                DELETE FROM record_keys r USING old_keys o WHERE r.kind = $1 AND r.id = $2 AND r.name = o.key AND r.value = o.value
                AND NOT EXISTS (SELECT 1 FROM new_keys n WHERE n.key = r.name AND n.value = r.value)),
            added AS (
                INSERT INTO record_keys (kind, name, value, id, is_unique) SELECT $1, key, value, $2, is_unique FROM new_keys
                ON CONFLICT (kind, name, value, id) DO NOTHING),
            written AS (
                UPDATE records SET version = $3, expires = $4, keys = $5::jsonb, payload = $6
                WHERE kind = $1 AND id = $2 AND version = $3::bigint - 1 RETURNING 1)
            SELECT 1 / count(*) FROM written
            """
        static let remove = """
            WITH gone AS (DELETE FROM records WHERE kind = $1 AND id = $2 AND version = $3 RETURNING keys),
            old_keys AS (SELECT key, value FROM gone, jsonb_each_text(keys -> 'u') UNION ALL SELECT key, value FROM gone, jsonb_each_text(keys -> 'i')),
            dropped AS (DELETE FROM record_keys r USING old_keys o WHERE r.kind = $1 AND r.id = $2 AND r.name = o.key AND r.value = o.value),
            dropped_tickets AS (DELETE FROM tickets WHERE owner_kind = $1 AND owner_id = $2)
            SELECT 1 / count(*) FROM gone
            """
        static let unchanged = """
            SELECT 1 / count(*) FROM (SELECT 1 FROM records WHERE kind = $1 AND id = $2 AND version = $3 FOR SHARE) AS found
            """
        static let insertPlaceholder = "INSERT INTO records (kind, id, version, keys, payload) VALUES ($1, $2, 0, '{}', '')"
        static let removePlaceholder = "DELETE FROM records WHERE kind = $1 AND id = $2 AND version = 0"

        static let issue = """
            INSERT INTO tickets (digest, kind, owner_kind, owner_id, use, expires, payload, standing) VALUES ($1, $2, $3, $4, $5, $6, $7, 0)
            """
        private static let isOpen = "standing = 0 AND (expires IS NULL OR expires > $3)"
        static let take = """
            WITH taken AS (
                UPDATE tickets SET standing = 1, taken_at = $3, gave = $4
                WHERE digest = $1 AND kind = $2 AND use = 'once' AND \(isOpen) RETURNING 1)
            SELECT 1 / count(*) FROM taken
            """
        static let retake = """
            WITH taken AS (
                UPDATE tickets SET gave = $4
                WHERE digest = $1 AND kind = $2 AND standing = 1 AND gave = $5 AND (expires IS NULL OR expires > $3) RETURNING 1)
            SELECT 1 / count(*) FROM taken
            """
        static let require = """
            SELECT 1 / count(*) FROM (
                SELECT 1 FROM tickets WHERE digest = $1 AND kind = $2 AND use = 'untilClosed' AND \(isOpen) FOR SHARE) AS found
            """
        /// Requires a version of the configuration. The version is read without a lock, because every commit would lock the same row. A
        /// commit that overlaps a change of the configuration counts as earlier than the change.
        static let requireConfiguration = "SELECT 1 / count(*) FROM counters WHERE name = 'configuration' AND value = $1"
        static let close = "UPDATE tickets SET standing = 2 WHERE digest = $1 AND kind = $2"
        static let closeTickets = "UPDATE tickets SET standing = 2 WHERE owner_kind = $1 AND owner_id = $2"
    }
}
#endif
