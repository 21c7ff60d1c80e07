/// The move of sessions and other data that an older version of the app stored, with this package or with another SDK.
///
/// The storages of this package read all their older formats and need no migration. For sessions of other SDKs there are four migrators:
///
/// | Migrator | Stored by |
/// |---|---|
/// | ``OktaMobile`` | okta-mobile-swift 0.2 to 2.2 |
/// | ``LegacyOIDC`` | okta-oidc-ios 3, and OktaAuth 1 and 2 |
/// | ``Auth0`` | Auth0.swift 1.6 to 3.1 |
/// | ``AppAuth`` | an app that archived the `OIDAuthState` of AppAuth 1 or 2 |
///
/// The app registers the migrators that it needs and runs them at its start, before it reads a ``Credential``:
///
/// ```swift
/// Migration.LegacyOIDC.register(clientId: "0oa1example")
/// let report = Migration.migrateSessions()
/// ```
///
/// A migrator sends no network requests. It stores a session, reads it back, and stores a note of the import. Therefore a second run
/// imports no session again, even after the user signed out. The original stays until the app removes it; see ``Originals``. Call the
/// migration in the app only, not in its extensions.
public final class Migration: Sendable {
    static let migrators = MigratorList()

    private init() {}

    /// Whether a registered migrator has data to migrate, or cannot know because the device is locked.
    public static var isMigrationNeeded: Bool { migrators.isMigrationNeeded }

    /// Runs the registered migrators that have data to migrate, in the order of registration.
    /// - Throws: The first error of a migrator, after all migrators ran; the next call tries again. If the device is locked, a
    ///   ``KeychainError`` whose ``KeychainError/isLocked`` is true.
    public static func migrateIfNeeded() throws { try migrators.migrateIfNeeded() }

    /// Registers a migrator. It runs on the thread that calls ``migrateIfNeeded()``, which an app calls from one thread only.
    public static func register(migrator: any SDKVersionMigrator) { migrators.add(migrator) }

    /// Reads and checks the sessions of all registered migrators, but stores nothing, removes nothing and shows no prompt.
    /// - Returns: The result for each session that a migration would have. Migrators that are no ``SessionMigrator`` are left out.
    public static func dryRun() -> Report { migrators.report { $0.dryRun() } }

    /// Imports the sessions of all registered migrators.
    /// - Parameter authenticationContext: The user's authentication for sessions that require it, such as an `LAContext`; `nil` leaves these
    ///   sessions for a later call and shows no prompt.
    /// - Returns: The result for each session. Migrators that are no ``SessionMigrator`` do not run.
    @discardableResult
    public static func migrateSessions(authenticationContext: (any TokenAuthenticationContext)? = nil) -> Report {
        migrators.report { $0.migrateSessions(authenticationContext: authenticationContext) }
    }

    /// Removes what the other SDKs stored, for all sessions that were imported. See ``SessionMigrator/removeOriginals()``.
    /// - Returns: The result for each session.
    @discardableResult
    public static func removeOriginals() -> Report { migrators.report { $0.removeOriginals() } }

    /// The time at which a migrator removes what the other SDK stored. Before that, the app can go back to the other SDK.
    ///
    /// A session whose original is kept can be used twice: by this package and by the older version of the app. If the server replaces
    /// refresh tokens at each use, the first refresh ends the session of the original.
    public enum Originals: Sendable {
        /// The originals stay. The app removes them later with ``SessionMigrator/removeOriginals()``. The user's sign-out does not remove
        /// them, and an older version of the app could still read them.
        case keep
        /// A run removes the original of a session that was refreshed since its import, or that was removed on this device because the user
        /// signed out.
        case removeAfterRefresh
        /// The import removes the original after the new entry was read back. On a device that was restored from another one's backup, the
        /// original stays.
        case removeAfterImport
    }
}

/// A migrator for data that an older version stored.
public protocol SDKVersionMigrator: AnyObject {
    /// Whether there is data to migrate.
    var needsMigration: Bool { get }

    /// Migrates the entries. Must be safe to interrupt at any point: no data may be lost, and the next call continues.
    /// - Throws: The error of the migration.
    func migrate() throws
}

/// The migrators of a process, in the order of registration.
final class MigratorList: Sendable {
    private let list = Locked<[any SDKVersionMigrator]>([])

    var all: [any SDKVersionMigrator] { list.withLock { $0 } }

    var isMigrationNeeded: Bool { all.contains { $0.needsMigration } }

    func add(_ migrator: any SDKVersionMigrator) { list.withLock { $0.append(migrator) } }

    /// Runs all migrators, so that one that fails does not stop the others, and throws the first error.
    func migrateIfNeeded() throws {
        var first: (any Error)?
        for migrator in all where migrator.needsMigration {
            do { try migrator.migrate() } catch { first = first ?? error }
        }
        if let first { throw first }
    }

    func report(_ run: (any SessionMigrator) -> Migration.Report) -> Migration.Report {
        Migration.Report(items: all.compactMap { $0 as? any SessionMigrator }.flatMap { run($0).items })
    }
}
