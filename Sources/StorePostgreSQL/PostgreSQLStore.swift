#if PostgreSQL
package import Foundation
package import Store

/// The server's state in a PostgreSQL database, which several servers may use. Safe from any task; blocks no cooperative thread. A read is
/// a transaction with one snapshot; a commit is one round trip.
package final class PostgreSQLStore: Store {
    private let pool: PostgreSQLPool
    private let configuration: PostgreSQLConfiguration
    /// Whether the database was reached and checked when the store was opened.
    package let isChecked: Bool
    /// The statement that sets the timeouts of a transaction. Settings of a session would be lost behind a pooler such as PgBouncer.
    private let limits: PostgreSQLStatement

    /// Opens the store. The tables must exist; ``PostgreSQLSchema/migrate(_:)`` creates them.
    /// - Throws: `StoreError` with one of these codes:
    ///   - `unreachable`: the database cannot be reached.
    ///   - `unavailable`: the tables are missing, older than this version, or the target of an unfinished copy; or the database failed.
    ///   - `invalid`: the URL has a character that a URL cannot contain.
    ///   - `newerVersion`: a newer version of the server upgraded the tables.
    ///
    /// - Parameter waits: Whether to open the store even if the database cannot be reached now. Then call ``check()`` before the first use.
    package init(_ configuration: PostgreSQLConfiguration, waits: Bool = false) async throws {
        self.configuration = configuration
        limits = PostgreSQLStatement(
            "SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true)",
            [configuration.statementTimeout, configuration.lockTimeout].map { .integer($0 * 1_000) })
        pool = PostgreSQLPool(configuration)
        var isChecked = true
        do {
            try await Self.check(pool, configuration)
        } catch {
            guard waits, (error as? StoreError)?.code == .unreachable else {
                pool.abandon()
                throw error
            }
            isChecked = false
        }
        self.isChecked = isChecked
    }

    /// Checks that the database can be reached and that this version can use its tables. Throws the errors of ``init(_:waits:)``.
    package func check() async throws {
        try await Self.check(pool, configuration)
    }

    private static func check(_ pool: PostgreSQLPool, _ configuration: PostgreSQLConfiguration) async throws {
        try await pool.run { slot in _ = try PostgreSQLSchema.check(slot.open(), configuration, isComplete: true) }
    }

    deinit { pool.abandon() }

    package func read<Result: Sendable>(
        _ lookup: @escaping @Sendable () -> Lookup, _ body: @escaping @Sendable (any StoreView) throws -> Result
    ) async throws -> Result {
        try await pool.run { [limits] slot in
            let asked = PostgreSQLLookup(lookup())
            let (connection, result) = try Self.begin(slot, limits, asked.statement)
            let found = try asked.found(in: result)
            let answer = Swift.Result { try body(PostgreSQLView(connection, found: found)) }
            // No caller waits for the end of a transaction that only read.
            try connection.post([PostgreSQLStatement("COMMIT")])
            return try answer.get()
        }
    }

    /// Begins a read, takes its snapshot and answers its lookup. A connection that was lost since its last use is replaced once.
    private static func begin(
        _ slot: PostgreSQLPool.Slot, _ limits: PostgreSQLStatement, _ lookup: PostgreSQLStatement
    ) throws -> (PostgreSQLConnection, PostgreSQLResult) {
        for isLast in [false, true] {
            let connection = try slot.open()
            do {
                let beginning = [PostgreSQLStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), limits, lookup]
                switch try connection.run(beginning) {
                case .results(let results): return (connection, results[2])
                case .failed(_, let error):
                    try connection.post([PostgreSQLStatement("ROLLBACK")])
                    throw error
                }
            } catch let error as ConnectionLost {
                slot.drop()
                if isLast { throw error }
            }
        }
        throw ConnectionLost(message: "the connection was lost twice")
    }

    package func commit(_ changes: [Change]) async throws -> CommitOutcome {
        let work = try PostgreSQLCommit(changes, limits, ids: [UUID(), UUID()])
        return try await pool.run { slot in try work.perform(slot) }
    }

    /// Only runs the work: the database lets concurrent commits share a flush.
    package func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        try await work()
    }

    package func removeExpired(now: Date, limit: Int) async throws -> Int {
        try await pool.run { [limits] slot in
            let connection = try slot.open()
            let statements =
                [PostgreSQLStatement("BEGIN"), limits] + Self.removal(now: now, limit: limit) + [PostgreSQLStatement("COMMIT")]
            switch try connection.run(statements) {
            case .results(let results): return Int(results[2].integer(0, 0))
            case .failed(_, let error):
                try connection.post([PostgreSQLStatement("ROLLBACK")])
                throw error
            }
        }
    }

    /// Returns the statements that remove expired rows. They skip rows that another instance locked, because it may be removing them.
    private static func removal(now: Date, limit: Int) -> [PostgreSQLStatement] {
        // Kinds that this version does not know belong to a newer version.
        let kinds = RecordKind.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return [
            PostgreSQLStatement(
                """
                WITH ended_tickets AS (SELECT digest, kind FROM tickets WHERE expires <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED),
                gone_tickets AS (
                    DELETE FROM tickets t USING ended_tickets e WHERE t.digest = e.digest AND t.kind = e.kind RETURNING 1),
                ended AS (
                    SELECT kind, id FROM records WHERE expires <= $1 AND kind IN (\(kinds))
                    LIMIT (SELECT $2 - count(*) FROM gone_tickets) FOR UPDATE SKIP LOCKED),
                gone AS (DELETE FROM records r USING ended e WHERE r.kind = e.kind AND r.id = e.id RETURNING r.kind, r.id, r.keys),
                old_keys AS (
                    SELECT kind, id, key, value FROM gone, jsonb_each_text(keys -> 'u')
                    UNION ALL SELECT kind, id, key, value FROM gone, jsonb_each_text(keys -> 'i')),
                dropped AS (
                    DELETE FROM record_keys r USING old_keys o
                    WHERE r.kind = o.kind AND r.name = o.key AND r.value = o.value AND r.id = o.id),
                dropped_tickets AS (DELETE FROM tickets t USING gone g WHERE t.owner_kind = g.kind AND t.owner_id = g.id)
                SELECT (SELECT count(*) FROM gone_tickets) + (SELECT count(*) FROM gone)
                """, [.time(now), .integer(limit)]),
            PostgreSQLStatement("DELETE FROM commits WHERE created_at < now() - interval '1 hour'"),
        ]
    }

    /// Closes the store after the pending reads and commits.
    package func close() async throws { await pool.close() }
}

/// One commit: all changes in one round trip.
struct PostgreSQLCommit: Sendable {
    private let changes: [Change]
    private let statements: [PostgreSQLStatement]
    /// The index of the change to which each statement belongs.
    private let owners: [Int]
    /// The ids of the attempts. The second attempt follows only if the first can no longer be committed.
    private let ids: [UUID]
    private let limits: PostgreSQLStatement

    init(_ changes: [Change], _ limits: PostgreSQLStatement, ids: [UUID]) throws {
        (self.changes, self.limits, self.ids) = (changes, limits, ids)
        let own = try changes.map(PostgreSQLChange.statements)
        statements = own.flatMap { $0 }
        owners = own.enumerated().flatMap { index, statements in statements.map { _ in index } }
    }

    /// Returns the statements that precede those of the changes.
    private func opening(_ id: UUID) -> [PostgreSQLStatement] {
        [PostgreSQLStatement("BEGIN"), limits, PostgreSQLStatement("INSERT INTO commits (id) VALUES ($1)", [.text(id.uuidString)])]
    }

    func perform(_ slot: PostgreSQLPool.Slot) throws -> CommitOutcome {
        var loss = ConnectionLost(message: "the connection was lost")
        for id in ids {
            let connection = try slot.open()
            let opening = opening(id)
            do {
                switch try connection.run(opening + statements + [PostgreSQLStatement("COMMIT")]) {
                case .results: return .committed
                case .failed(let index, let error): return try outcome(of: error, at: index - opening.count, connection)
                }
            } catch let error as ConnectionLost {
                slot.drop()
                if try isCommitted(id, slot) { return .committed }
                loss = error
            }
        }
        throw loss
    }

    /// Returns whether a commit whose answer was lost has happened. Inserts the id of the lost commit: if the insertion succeeds, the lost
    /// commit can never happen, because its own insertion would fail. If the lost commit is still running, the insertion waits for its end.
    private func isCommitted(_ id: UUID, _ slot: PostgreSQLPool.Slot) throws -> Bool {
        do {
            let connection = try slot.open()
            switch try connection.run(opening(id) + [PostgreSQLStatement("COMMIT")]) {
            case .results: return false
            case .failed(_, let error):
                try connection.post([PostgreSQLStatement("ROLLBACK")])
                guard error.isUniqueViolation else { throw error }
                return true
            }
        } catch {
            slot.drop()
            throw StoreError(
                .unavailable, "The connection to the database was lost during a commit, and its outcome is unknown. Check the database.",
                underlying: error)
        }
    }

    /// Ends the failed transaction, and reads why a change conflicted. A change sees the earlier changes of its commit, so the earlier
    /// changes are repeated for the read.
    private func outcome(of error: PostgreSQLError, at index: Int, _ connection: PostgreSQLConnection) throws -> CommitOutcome {
        let rollback = PostgreSQLStatement("ROLLBACK")
        let beginning = [PostgreSQLStatement("BEGIN"), limits]
        if error.isContention {
            try connection.post([rollback])
            return .conflict(index: 0, .contention)
        }
        guard error.isNoRow || error.isUniqueViolation, owners.indices.contains(index) else {
            try connection.post([rollback])
            throw error
        }
        let owner = owners[index]
        let earlier = Array(zip(statements, owners).prefix { $0.1 < owner }.map(\.0))
        var answer = try connection.run([rollback] + beginning + earlier)
        // Another commit has changed the earlier rows too. Read without the earlier changes.
        if case .failed = answer { answer = try connection.run([rollback] + beginning) }
        if case .failed(_, let error) = answer { throw error }
        let conflict = try PostgreSQLChange.conflict(of: changes[owner], in: PostgreSQLView(connection))
        try connection.post([rollback])
        return .conflict(index: owner, conflict)
    }
}
#endif
