import Foundation
import Testing

@testable import AuthFoundation

@Suite("SDK version migrations", .serialized)
struct MigrationTests {
    private final class Migrator: SDKVersionMigrator {
        private let state: Locked<(isNeeded: Bool, fails: Bool)>

        init(fails: Bool) { state = Locked((true, fails)) }

        var needsMigration: Bool { state.withLock { $0.isNeeded } }

        func migrate() throws {
            try state.withLock { state in
                if state.fails {
                    state.fails = false
                    throw CredentialError.metadataConsistency
                }
                state.isNeeded = false
            }
        }
    }

    @Test("An SDK migration that fails stays pending, and the next attempt completes the migration")
    func runs() throws {
        #expect(!Migration.isMigrationNeeded)
        Migration.register(migrator: Migrator(fails: true))
        Migration.register(migrator: Migrator(fails: false))
        #expect(Migration.isMigrationNeeded)
        #expect(throws: CredentialError.metadataConsistency) { try Migration.migrateIfNeeded() }
        #expect(Migration.isMigrationNeeded)
        try Migration.migrateIfNeeded()
        #expect(!Migration.isMigrationNeeded)
    }
}
