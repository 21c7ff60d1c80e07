/// Moves what an older version of the app or of this package stored to where it is kept now.
///
/// Formats of this package's own storages need no migration: they are read as they are, for good. Apps register what else is to be moved.
public final class Migration: Sendable {
    private static let migrators = Locked<[any SDKVersionMigrator]>([])

    private init() {}

    /// Whether a registered migrator has something to move.
    public static var isMigrationNeeded: Bool {
        migrators.withLock { $0 }.contains { $0.needsMigration }
    }

    /// Runs the registered migrators that have something to move, in the order of their registration.
    ///
    /// - Throws: What a migrator throws; those after it are not run, and what it left is tried again by the next call.
    public static func migrateIfNeeded() throws {
        for migrator in migrators.withLock({ $0 }) where migrator.needsMigration { try migrator.migrate() }
    }

    /// Adds a migrator.
    ///
    /// - Parameter migrator: Moves something.
    public static func register(migrator: any SDKVersionMigrator) {
        migrators.withLock { $0.append(migrator) }
    }
}

/// Moves something that an older version stored.
public protocol SDKVersionMigrator: Sendable {
    /// Whether there is something to move.
    var needsMigration: Bool { get }

    /// Moves it. To be interrupted at any point must lose nothing: the next call goes on.
    ///
    /// - Throws: What went wrong; nothing is lost then.
    func migrate() throws
}
