internal import Foundation
internal import GRDB
internal import Store

// GRDB has a class of the same name.
internal import struct Store.Record

/// Applies changes to the tables within the writing thread's transaction.
struct SQLiteChanges {
    private let db: Database

    init(_ db: Database) {
        self.db = db
    }

    /// Applies a change or returns its conflict; after a conflict the caller rolls back.
    func apply(_ change: Change) throws -> Conflict? {
        switch change {
        case .put(let record): return try put(record)
        case .unchanged(let reference, let version):
            let stored = try stored(reference.kind, reference.id)?.version ?? 0
            return stored == version ? nil : .version(stored: stored)
        case .remove(let kind, let id, let version): return try remove(kind, id, version)
        case .issue(let ticket): return try issue(ticket)
        case .take(let kind, let digest, let now, let gave):
            return try alter(kind, digest, now) { state in
                guard case .fresh(let ticket) = state, ticket.use == .once else { return false }
                try execute(
                    "UPDATE tickets SET standing = 1, taken_at = ?, gave = ? WHERE digest = ? AND kind = ?",
                    [now.timeIntervalSince1970, Data(gave), Data(digest.bytes), kind.rawValue])
                return true
            }
        case .retake(let kind, let digest, let now, let expected, let gave):
            return try alter(kind, digest, now) { state in
                guard case .taken(_, _, expected) = state else { return false }
                try execute(
                    "UPDATE tickets SET gave = ? WHERE digest = ? AND kind = ?", [Data(gave), Data(digest.bytes), kind.rawValue])
                return true
            }
        case .require(let kind, let digest, let now):
            return try alter(kind, digest, now) { state in
                if case .fresh(let ticket) = state { ticket.use == .untilClosed } else { false }
            }
        case .requireConfiguration(let version):
            let stored = try SQLiteView(db).configurationVersion()
            return stored == version ? nil : .configuration(stored: stored)
        case .close(let kind, let digest):
            try execute("UPDATE tickets SET standing = 2 WHERE digest = ? AND kind = ?", [Data(digest.bytes), kind.rawValue])
        case .closeTickets(let owner):
            try execute("UPDATE tickets SET standing = 2 WHERE owner_kind = ? AND owner_id = ?", [owner.kind.rawValue, owner.id])
        }
        return nil
    }

    /// Removes at most `limit` expired tickets and records. Returns the number of removed rows.
    func removeExpired(now: Date, limit: Int) throws -> Int {
        let time = now.timeIntervalSince1970
        try execute(
            """
            DELETE FROM tickets WHERE (digest, kind) IN
            (SELECT digest, kind FROM tickets WHERE expires IS NOT NULL AND expires <= ? LIMIT ?)
            """, [time, limit])
        var removed = db.changesCount
        // Kinds that this version does not know belong to a newer version.
        let kinds = RecordKind.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        let ended = try Row.fetchAll(
            db,
            sql: "SELECT kind, id, version FROM records WHERE expires IS NOT NULL AND expires <= ? AND kind IN (\(kinds)) LIMIT ?",
            arguments: [time, limit - removed])
        for row in ended {
            guard let kind = RecordKind(rawValue: row[0]) else { continue }
            _ = try remove(kind, row[1], row[2])
            removed += 1
        }
        return removed
    }

    private func put(_ record: Record) throws -> Conflict? {
        // SQLite text ends at a NUL: the record would be stored under another name.
        let names = [record.id] + record.uniqueKeys.flatMap { [$0, $1] } + record.indexedKeys.flatMap { [$0, $1] }
        guard !names.contains(where: { $0.utf8.contains(0) }) else {
            throw StoreError(
                .invalid, "A record of the kind \(record.kind.rawValue) has a NUL in its id or a key. Refuse such input earlier.")
        }
        let stored = try stored(record.kind, record.id)
        guard stored?.version ?? 0 == record.version else { return .version(stored: stored?.version ?? 0) }
        let keys = StoredKeys(unique: record.uniqueKeys, indexed: record.indexedKeys)
        let text = keys.text
        // Compares bytes, as SQLite does: strings that are equal in Swift may differ in their bytes.
        if stored.map({ $0.keys.utf8.elementsEqual(text.utf8) }) != true {
            if let name = try duplicate(of: keys.unique, record) { return .duplicateKey(name) }
            if let stored, !stored.keys.isEmpty { try removeKeys(StoredKeys(stored.keys), record.kind, record.id) }
            for (name, value) in keys.unique { try insertKey(record, name, value, isUnique: true) }
            for (name, value) in keys.indexed { try insertKey(record, name, value, isUnique: false) }
        }
        try execute(
            """
            INSERT INTO records (kind, id, version, expires, keys, payload) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (kind, id) DO UPDATE SET
            version = excluded.version, expires = excluded.expires, keys = excluded.keys, payload = excluded.payload
            """,
            [record.kind.rawValue, record.id, record.version + 1, record.expiresAt?.timeIntervalSince1970, text, Data(record.payload)])
        try noteChange(of: record.kind)
        return nil
    }

    private func remove(_ kind: RecordKind, _ id: String, _ version: Int64) throws -> Conflict? {
        guard let stored = try stored(kind, id), stored.version == version else {
            return .version(stored: try stored(kind, id)?.version ?? 0)
        }
        try removeKeys(StoredKeys(stored.keys), kind, id)
        try execute("DELETE FROM records WHERE kind = ? AND id = ?", [kind.rawValue, id])
        try execute("DELETE FROM tickets WHERE owner_kind = ? AND owner_id = ?", [kind.rawValue, id])
        try noteChange(of: kind)
        return nil
    }

    private func stored(_ kind: RecordKind, _ id: String) throws -> (version: Int64, keys: String)? {
        let statement = try db.cachedStatement(sql: "SELECT version, keys FROM records WHERE kind = ? AND id = ?")
        return try statement.first([kind.rawValue, id]) { ($0[0], $0[1]) }
    }

    private func duplicate(of keys: [String: String], _ record: Record) throws -> String? {
        for (name, value) in keys {
            let statement = try db.cachedStatement(
                sql: "SELECT 1 FROM record_keys WHERE kind = ? AND name = ? AND value = ? AND is_unique AND id <> ?")
            if try Int.fetchOne(statement, arguments: [record.kind.rawValue, name, value, record.id]) != nil { return name }
        }
        return nil
    }

    private func insertKey(_ record: Record, _ name: String, _ value: String, isUnique: Bool) throws {
        try execute("INSERT INTO record_keys VALUES (?, ?, ?, ?, ?)", [record.kind.rawValue, name, value, record.id, isUnique])
    }

    private func removeKeys(_ keys: StoredKeys, _ kind: RecordKind, _ id: String) throws {
        for (name, value) in Array(keys.unique) + Array(keys.indexed) {
            try execute(
                "DELETE FROM record_keys WHERE kind = ? AND name = ? AND value = ? AND id = ?", [kind.rawValue, name, value, id])
        }
    }

    private func noteChange(of kind: RecordKind) throws {
        guard kind.isConfiguration else { return }
        try execute("UPDATE counters SET value = value + 1 WHERE name = 'configuration'", [])
    }

    private func issue(_ ticket: Ticket) throws -> Conflict? {
        if let known = try TicketRow(db, ticket.kind, ticket.digest) { return .ticket(known.state(now: .distantPast)) }
        try execute(
            """
            INSERT INTO tickets (digest, kind, owner_kind, owner_id, use, expires, payload, standing) VALUES (?, ?, ?, ?, ?, ?, ?, 0)
            """,
            [
                Data(ticket.digest.bytes), ticket.kind.rawValue, ticket.owner.kind.rawValue, ticket.owner.id, ticket.use.rawValue,
                ticket.expiresAt?.timeIntervalSince1970, Data(ticket.payload),
            ])
        return nil
    }

    /// Reads a ticket and lets the body change the ticket. If the body returns `false`, returns a conflict with the state that was read.
    private func alter(
        _ kind: TicketKind, _ digest: TicketDigest, _ now: Date, _ body: (TicketState) throws -> Bool
    ) throws -> Conflict? {
        let state = try TicketRow(db, kind, digest)?.state(now: now) ?? .unknown
        return try body(state) ? nil : .ticket(state)
    }

    private func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}
