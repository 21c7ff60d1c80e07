internal import Foundation
internal import JOSE
internal import Store
internal import StorePostgreSQL
internal import StoreSQLite

/// Opens the store that the configuration names: SQLite in the data folder, or a PostgreSQL database.
package enum StoreSettings {
    /// Opens the store.
    /// - Throws: ``ConfigurationError`` for a setting; ``StoreError`` if the database cannot be opened or has no tables.
    static func open(_ configuration: AuthorizationServer.Configuration) async throws -> any Store {
        guard configuration.database != nil else { return try SQLiteStore(path: configuration.storePath) }
        #if PostgreSQL
        return try await PostgreSQLStore(try postgreSQL(configuration))
        #else
        throw withoutPostgreSQL
        #endif
    }

    /// Creates or upgrades the tables of the PostgreSQL database. Several processes may do so at the same time; servers of the version before
    /// may serve meanwhile. Blocks the thread.
    /// - Throws: ``ConfigurationError`` for a setting; ``StoreError`` if the database cannot be reached or is of a newer version.
    /// - Returns: The database's place, without a password.
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
