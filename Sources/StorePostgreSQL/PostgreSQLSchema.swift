#if PostgreSQL
internal import Foundation
internal import Store

/// The tables and their migrations. Migrations are appended and never change after a release.
package enum PostgreSQLSchema {
    struct Migration {
        let name: String
        /// The number of migrations that a server must know to use the database after this migration. If the previous version of the server
        /// can use the new tables, the number is at most what that version knows. Servers of that version then serve during an upgrade.
        let compatibleFrom: Int
        let statements: [String]
    }

    /// Creates or upgrades the tables. Several processes may do so at the same time. Blocks the thread.
    /// - Throws: `StoreError` if the database cannot be reached, or a newer version of the server wrote it.
    package static func migrate(_ configuration: PostgreSQLConfiguration) throws {
        let connection = try PostgreSQLPool.connect(configuration)
        do {
            // If two processes create the table at the same time, one fails although the table then exists.
            for isLast in [false, true] {
                if case .failed(_, let error) = try connection.run([PostgreSQLStatement(table)]), isLast { throw error }
            }
            let applied = try check(connection, configuration, migrations: migrations, isComplete: false)
            for (index, migration) in migrations.enumerated() where index >= applied { try apply(migration, at: index + 1, connection) }
        } catch {
            throw PostgreSQLPool.translated(error, configuration)
        }
    }

    private static let table = """
        CREATE TABLE IF NOT EXISTS schema_migrations (
            position integer PRIMARY KEY, name text NOT NULL, compatible_from integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())
        """

    /// Applies a migration. Its insertion into the table of migrations is a lock: of two processes, the second waits for the first and then
    /// fails with a duplicate, which means that the migration is done.
    private static func apply(_ migration: Migration, at position: Int, _ connection: PostgreSQLConnection) throws {
        let noting = PostgreSQLStatement(
            "INSERT INTO schema_migrations (position, name, compatible_from) VALUES ($1, $2, $3)",
            [.integer(position), .text(migration.name), .integer(migration.compatibleFrom)])
        let all =
            [PostgreSQLStatement("BEGIN"), noting] + migration.statements.map { PostgreSQLStatement($0) } + [PostgreSQLStatement("COMMIT")]
        guard case .failed(let index, let error) = try connection.run(all) else { return }
        _ = try connection.run([PostgreSQLStatement("ROLLBACK")])
        guard index == 1, error.isUniqueViolation else { throw error }
    }

    /// Returns the number of known migrations that were applied. Throws `StoreError` if this server cannot use the database.
    /// - Parameters:
    ///   - isComplete: Whether all migrations must have been applied.
    ///   - forCopy: Whether the target of an unfinished copy can be used.
    @discardableResult
    static func check(
        _ connection: PostgreSQLConnection, _ configuration: PostgreSQLConfiguration, migrations: [Migration] = migrations,
        isComplete: Bool, forCopy: Bool = false
    ) throws -> Int {
        let place = configuration.place
        let answer = try connection.run([
            PostgreSQLStatement("SELECT count(*), coalesce(max(position), 0), coalesce(max(compatible_from), 0) FROM schema_migrations")
        ])
        switch answer {
        case .failed(_, let error) where error.state == "42P01":
            throw StoreError(.unavailable, "The database \(place) has no tables of Countersign. Run “countersign store migrate”.")
        case .failed(_, let error): throw error
        case .results(let results):
            let (count, needed) = (Int(results[0].integer(0, 0)), Int(results[0].integer(0, 2)))
            guard needed <= migrations.count else {
                throw StoreError(
                    .newerVersion,
                    "The database \(place) was upgraded by a newer version of the server. Run that version, or restore an older backup.")
            }
            guard !isComplete || count >= migrations.count else {
                throw StoreError(
                    .unavailable, "The database \(place) has the tables of an older version. Run “countersign store migrate”.")
            }
            if isComplete, !forCopy, try isUnfinishedCopy(connection) { throw StoreError.unfinishedCopy(place) }
            return count
        }
    }

    /// Whether the database is the target of a copy that is not complete.
    static func isUnfinishedCopy(_ connection: PostgreSQLConnection) throws -> Bool {
        switch try connection.run([PostgreSQLStatement("SELECT 1 FROM counters WHERE name = 'copying'")]) {
        case .failed(_, let error): throw error
        case .results(let results): return !results[0].rows.isEmpty
        }
    }

    /// The migrations, in order. Names and ids compare byte by byte, as in the other stores. Times are seconds since 1970.
    static let migrations = [
        Migration(
            name: "records and tickets", compatibleFrom: 1,
            statements: [
                """
                CREATE TABLE records (
                    kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, version bigint NOT NULL, expires double precision,
                    keys jsonb NOT NULL, payload bytea NOT NULL, PRIMARY KEY (kind, id))
                """,
                "CREATE INDEX records_expires ON records (expires) WHERE expires IS NOT NULL",
                """
                CREATE TABLE record_keys (
                    kind text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL,
                    id text COLLATE "C" NOT NULL, is_unique boolean NOT NULL, PRIMARY KEY (kind, name, value, id))
                """,
                "CREATE UNIQUE INDEX record_keys_unique ON record_keys (kind, name, value) WHERE is_unique",
                """
                CREATE TABLE tickets (
                    digest bytea NOT NULL, kind text COLLATE "C" NOT NULL, owner_kind text COLLATE "C" NOT NULL,
                    owner_id text COLLATE "C" NOT NULL, use text NOT NULL, expires double precision, payload bytea NOT NULL,
                    standing smallint NOT NULL, taken_at double precision, gave bytea, PRIMARY KEY (digest, kind))
                """,
                "CREATE INDEX tickets_owner ON tickets (owner_kind, owner_id)",
                "CREATE INDEX tickets_expires ON tickets (expires) WHERE expires IS NOT NULL",
                "CREATE TABLE counters (name text PRIMARY KEY, value bigint NOT NULL)",
                "INSERT INTO counters VALUES ('configuration', 0)",
                // The ids of commits, which tell the outcome of a commit whose answer was lost.
                "CREATE TABLE commits (id uuid PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now())",
                "CREATE INDEX commits_created ON commits (created_at)",
            ])
    ]
}
#endif
