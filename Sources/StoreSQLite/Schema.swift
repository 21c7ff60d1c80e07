internal import GRDB
internal import Store

/// The tables and their migrations. Migrations are appended and never change after a release.
enum Schema {
    static func migrate(_ queue: DatabaseQueue, path: String) throws {
        // The migrator creates this table too, but fails if another process creates it at the same time.
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        }
        let applied = try queue.read { try migrator.hasBeenSuperseded($0) }
        guard !applied else {
            throw StoreError(
                .newerVersion,
                "The database \(path) was written by a newer version of the server. Run that version, or restore an older backup.")
        }
        // The migrator reads the applied migrations before it locks the file. If another process migrates a new file at the same time, this
        // one fails on existing tables. Retry as long as the other process makes progress.
        var known = 0
        while true {
            do {
                return try migrator.migrate(queue)
            } catch {
                let applied = try queue.read { try migrator.appliedIdentifiers($0) }.count
                guard applied > known else { throw error }
                known = applied
            }
        }
    }

    /// Whether the database is the target of a copy that is not complete.
    static func isUnfinishedCopy(_ db: Database) throws -> Bool {
        try Row.fetchOne(db, sql: "SELECT 1 FROM counters WHERE name = 'copying'") != nil
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 records and tickets") { db in
            try db.execute(
                sql: """
                    CREATE TABLE records (
                        kind TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, expires REAL, keys TEXT NOT NULL,
                        payload BLOB NOT NULL, PRIMARY KEY (kind, id)
                    ) WITHOUT ROWID;
                    CREATE INDEX records_expires ON records (expires) WHERE expires IS NOT NULL;
                    CREATE TABLE record_keys (
                        kind TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, id TEXT NOT NULL, is_unique INTEGER NOT NULL,
                        PRIMARY KEY (kind, name, value, id)
                    ) WITHOUT ROWID;
                    CREATE TABLE tickets (
                        digest BLOB NOT NULL, kind TEXT NOT NULL, owner_kind TEXT NOT NULL, owner_id TEXT NOT NULL, use TEXT NOT NULL,
                        expires REAL, payload BLOB NOT NULL, standing INTEGER NOT NULL, taken_at REAL, gave BLOB,
                        PRIMARY KEY (digest, kind)
                    ) WITHOUT ROWID;
                    CREATE INDEX tickets_owner ON tickets (owner_kind, owner_id);
                    CREATE INDEX tickets_expires ON tickets (expires) WHERE expires IS NOT NULL;
                    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
                    INSERT INTO counters VALUES ('configuration', 0);
                    """)
        }
        return migrator
    }
}

/// A record's keys encoded as one text column, so that reading a record uses one table. Each key consists of `u` or `i`, its name, and its
/// value preceded by the value's length in bytes, because values may contain any character.
struct StoredKeys: Equatable {
    var unique: [String: String]
    var indexed: [String: String]

    init(unique: [String: String], indexed: [String: String]) {
        self.unique = unique
        self.indexed = indexed
    }

    init(_ text: String) {
        unique = [:]
        indexed = [:]
        var rest = text.utf8[...]
        while let kind = rest.popFirst(), let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            let name = String(decoding: rest[..<colon], as: UTF8.self)
            rest = rest[rest.index(after: colon)...]
            guard let end = rest.firstIndex(of: UInt8(ascii: ":")),
                let length = Int(String(decoding: rest[..<end], as: UTF8.self))
            else { return }
            rest = rest[rest.index(after: end)...]
            let value = String(decoding: rest.prefix(length), as: UTF8.self)
            rest = rest.dropFirst(length)
            if kind == UInt8(ascii: "u") { unique[name] = value } else { indexed[name] = value }
        }
    }

    var text: String {
        let parts = unique.map { ("u", $0.key, $0.value) } + indexed.map { ("i", $0.key, $0.value) }
        return parts.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map { "\($0.0)\($0.1):\($0.2.utf8.count):\($0.2)" }.joined()
    }
}
