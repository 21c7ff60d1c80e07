internal import Foundation
internal import GRDB
internal import Store

// GRDB has a class of the same name.
internal import struct Store.Record

/// The rows of one snapshot, for use on the connection's thread during the read.
struct SQLiteView: StoreView {
    private let db: Database

    init(_ db: Database) {
        self.db = db
    }

    func configurationVersion() throws -> Int64 {
        let statement = try db.cachedStatement(sql: "SELECT value FROM counters WHERE name = 'configuration'")
        return try Int64.fetchOne(statement) ?? 0
    }

    func record(_ kind: RecordKind, id: String) throws -> Record? {
        // SQLite text ends at a NUL, so "a\0b" would find "a".
        guard !id.utf8.contains(0) else { return nil }
        let statement = try db.cachedStatement(
            sql: "SELECT id, version, expires, keys, payload FROM records WHERE kind = ? AND id = ?")
        return try records(kind, statement, [kind.rawValue, id]).first
    }

    func records(_ kind: RecordKind, where key: String, is value: String, limit: Int) throws -> [Record] {
        guard !value.utf8.contains(0) else { return [] }
        let statement = try db.cachedStatement(
            sql: """
                SELECT r.id, r.version, r.expires, r.keys, r.payload FROM record_keys k JOIN records r ON r.kind = k.kind AND r.id = k.id
                WHERE k.kind = ? AND k.name = ? AND k.value = ? ORDER BY k.id LIMIT ?
                """)
        return try records(kind, statement, [kind.rawValue, key, value, limit])
    }

    func records(_ kind: RecordKind, after id: String?, limit: Int) throws -> [Record] {
        let statement = try db.cachedStatement(
            sql: "SELECT id, version, expires, keys, payload FROM records WHERE kind = ? AND id > ? ORDER BY id LIMIT ?")
        return try records(kind, statement, [kind.rawValue, id ?? "", limit])
    }

    func ticket(_ kind: TicketKind, digest: TicketDigest, now: Date) throws -> TicketState {
        guard let stored = try TicketRow(db, kind, digest) else { return .unknown }
        return stored.state(now: now)
    }

    private func records(_ kind: RecordKind, _ statement: Statement, _ arguments: StatementArguments) throws -> [Record] {
        var found: [Record] = []
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        while let row = try rows.next() {
            let keys = StoredKeys(row[3] as String)
            found.append(
                Record(
                    kind: kind, id: row[0], version: row[1], uniqueKeys: keys.unique, indexedKeys: keys.indexed,
                    expiresAt: (row[2] as Double?).map(Date.init(timeIntervalSince1970:)), payload: Self.bytes(row, 4)))
        }
        return found
    }

    /// Returns a column's bytes with a single copy.
    static func bytes(_ row: Row, _ index: Int) -> [UInt8] {
        (try? row.withUnsafeData(atIndex: index) { $0.map { [UInt8]($0) } ?? [] }) ?? []
    }
}

struct TicketRow {
    enum Standing: Int64 { case open = 0, taken, closed }

    var ticket: Ticket
    var standing: Standing
    var takenAt: Date?
    var gave: [UInt8]

    init?(_ db: Database, _ kind: TicketKind, _ digest: TicketDigest) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT owner_kind, owner_id, use, expires, payload, standing, taken_at, gave FROM tickets WHERE digest = ? AND kind = ?
                """)
        let damaged = StoreError(.damaged, "A ticket of the kind \(kind.rawValue) cannot be read. Restore the database from a backup.")
        let stored: Self? = try statement.first([Data(digest.bytes), kind.rawValue]) { row in
            guard let owner = RecordKind(rawValue: row[0]), let use = Ticket.Use(rawValue: row[2]),
                let standing = Standing(rawValue: row[5])
            else { throw damaged }
            let ticket = Ticket(
                kind: kind, digest: digest, owner: RecordReference(owner, row[1]), use: use,
                expiresAt: (row[3] as Double?).map(Date.init(timeIntervalSince1970:)), payload: SQLiteView.bytes(row, 4))
            return Self(
                ticket: ticket, standing: standing, takenAt: (row[6] as Double?).map(Date.init(timeIntervalSince1970:)),
                gave: SQLiteView.bytes(row, 7))
        }
        guard let stored else { return nil }
        self = stored
    }

    private init(ticket: Ticket, standing: Standing, takenAt: Date?, gave: [UInt8]) {
        (self.ticket, self.standing, self.takenAt, self.gave) = (ticket, standing, takenAt, gave)
    }

    func state(now: Date) -> TicketState {
        if let end = ticket.expiresAt, end <= now { return .expired(ticket) }
        return switch standing {
        case .open: .fresh(ticket)
        case .taken: .taken(ticket, at: takenAt ?? .distantPast, gave: gave)
        case .closed: .closed(ticket)
        }
    }
}

extension Statement {
    /// Reads the first row, which is valid only within the body: the statement is reset after it.
    func first<Result>(_ arguments: StatementArguments, _ body: (Row) throws -> Result) throws -> Result? {
        let rows = try Row.fetchCursor(self, arguments: arguments)
        return try withExtendedLifetime(rows) { try rows.next().map(body) }
    }
}
