internal import Foundation
internal import JOSE
package import Store
internal import StorePostgreSQL
internal import StoreSQLite

/// Opens the store that the configuration names: SQLite in the data folder, or a PostgreSQL database.
package enum StoreSettings {
    /// Opens the store.
    /// - Parameter waits: Whether to accept a PostgreSQL database that cannot be reached now. The result then has a check.
    /// - Throws: ``ConfigurationError`` for a setting; ``StoreError`` if the database cannot be opened or has no tables.
    /// - Returns: The store, and a check that must succeed before the first use of the store; `nil` if the database was already reached.
    ///   The check throws while the database cannot be reached.
    static func open(
        _ configuration: AuthorizationServer.Configuration, waits: Bool
    ) async throws -> (store: any Store, check: (@Sendable () async throws -> Void)?) {
        guard configuration.database != nil else { return (try SQLiteStore(path: configuration.storePath), nil) }
        #if PostgreSQL
        let store = try await PostgreSQLStore(try postgreSQL(configuration), waits: waits)
        if store.isChecked { return (store, nil) }
        return (store, { try await store.check() })
        #else
        throw withoutPostgreSQL
        #endif
    }

    /// Creates or upgrades the tables of the PostgreSQL database. Several processes may do so at the same time; servers of the previous
    /// version may serve meanwhile. Blocks the thread.
    /// - Throws: ``ConfigurationError`` for a setting; ``StoreError`` if the database cannot be reached or is of a newer version.
    /// - Returns: The URL of the database, without its password and parameters.
    package static func migrate(_ configuration: AuthorizationServer.Configuration) throws -> String {
        #if PostgreSQL
        let database = try postgreSQL(configuration)
        try PostgreSQLSchema.migrate(database)
        return database.place
        #else
        throw withoutPostgreSQL
        #endif
    }

    /// Copies the SQLite database into a new file, or a backup into a data folder without a database. Blocks the thread.
    /// - Throws: ``ConfigurationError`` for a PostgreSQL database; ``StoreError`` if a file is missing, exists already or is damaged.
    package static func copySQLite(_ configuration: AuthorizationServer.Configuration, backup: String, restores: Bool) throws {
        guard configuration.database == nil else {
            throw ConfigurationError(
                key: "database", message: "A PostgreSQL database is backed up with its own programs, such as pg_dump and pg_basebackup.")
        }
        if restores {
            try SQLiteStore.copy(backup, to: configuration.storePath)
        } else {
            try SQLiteStore.copy(configuration.storePath, to: backup)
        }
    }

    /// Copies every row of a store into an empty one of another kind, and compares both. Continues an interrupted copy. Blocks the thread.
    /// - Parameters:
    ///   - source: `sqlite:` and a data folder, or a URL of PostgreSQL.
    ///   - target: A place in the same format as `source`. An SQLite database is created; a PostgreSQL database must have the tables.
    ///   - progress: Receives the number of rows copied so far, after each batch.
    /// - Throws: ``ConfigurationError`` for a place in another format; ``StoreError`` if the target has other data, if a server wrote
    ///   meanwhile, or if a database fails.
    package static func copy(
        from source: String, to target: String, passwordFile: String?, progress: (Int) -> Void
    ) throws -> StoreCopy.Report {
        try StoreCopy(
            from: rows(source, passwordFile, creates: false), to: rows(target, passwordFile, creates: true)
        ).run(progress: progress)
    }

    private static func rows(_ place: String, _ passwordFile: String?, creates: Bool) throws -> any StoreRows {
        let configuration = AuthorizationServer.Configuration()
        if place.hasPrefix("sqlite:") {
            var named = configuration
            named.dataDirectory = String(place.dropFirst("sqlite:".count))
            return try SQLiteRows(path: named.storePath, creates: creates)
        }
        #if PostgreSQL
        var named = configuration
        named.database = try AuthorizationServer.Configuration.database(place, isVisible: true)
        named.databasePassword = passwordFile.map { .file($0) }
        var database = try postgreSQL(named)
        // A batch on a busy disk takes longer than a request may.
        database.statementTimeout = 300
        return try PostgreSQLRows(database)
        #else
        throw withoutPostgreSQL
        #endif
    }

    #if PostgreSQL
    private static func postgreSQL(_ configuration: AuthorizationServer.Configuration) throws -> PostgreSQLConfiguration {
        guard let url = configuration.database else {
            throw ConfigurationError(
                key: "database", message: "No PostgreSQL database is set. SQLite upgrades its tables itself, when the server starts.")
        }
        var database = PostgreSQLConfiguration(url: url.text)
        if case .file(let path)? = configuration.databasePassword {
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                throw ConfigurationError(key: "database-password-file", message: "The file \(path) cannot be read.")
            }
            database.password = Secret(text.trimmingCharacters(in: .newlines))
        }
        return database
    }
    #else
    private static let withoutPostgreSQL = ConfigurationError(
        key: "database", message: "This build has no PostgreSQL store. Build it with: swift build --traits PostgreSQL")
    #endif
}
