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

    @Test("A migrator that fails does not stop the others, and the first error is thrown")
    func oneFails() throws {
        let list = MigratorList()
        let (failing, working) = (Migrator(fails: true), Migrator(fails: false))
        list.add(failing)
        list.add(working)
        #expect(throws: CredentialError.metadataConsistency) { try list.migrateIfNeeded() }
        #expect(failing.needsMigration && !working.needsMigration)
    }

    @Test("A report has the sessions of all registered migrators, in the order of registration")
    func reports() async throws {
        let fixture = MigrationFixture()
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            let list = MigratorList()
            list.add(Migrator(fails: false))
            list.add(fixture.appAuth(.data(Data(), name: "state")))
            list.add(fixture.legacyOIDC())
            let report = list.report { $0.dryRun() }
            #expect(report.items.map(\.sdk) == ["AppAuth", "okta-oidc-ios"])
            #expect(report.items.map(\.outcome) == [.skipped(.unreadable), .importable])
            #expect(report.skipped.map(\.name) == ["state"] && report.items(.importable).map(\.name) == [MigrationFixture.client])
            #expect(report.description.split(separator: "\n").count == 2)
        }
    }

    @Test("Runs over all registered migrators change nothing if no other SDK stored a session")
    func nothing() async throws {
        let fixture = MigrationFixture()
        try await fixture.run {
            Migration.register(migrator: fixture.appAuth(.userDefaults(key: "authState", suite: fixture.suite)))
            #expect(Migration.dryRun().items.isEmpty && Migration.migrateSessions().items.isEmpty)
            #expect(Migration.removeOriginals().items.isEmpty && Credential.allIDs.isEmpty)
        }
    }

    @Test("An imported session is announced by an event and by a notification, each once")
    func announces() async throws {
        let fixture = MigrationFixture()
        // The name makes an id that no other test has.
        let migrator = fixture.appAuth(.data(AppAuthArchive.complete.data, name: fixture.suite))
        let seen = Locked<[String]>([])
        let observer = NotificationCenter.default.addObserver(forName: .credentialMigrated, object: nil, queue: nil) { notification in
            guard let id = (notification.object as? Credential)?.id else { return }
            seen.withLock { $0.append(id) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await fixture.run {
            var events = Credential.events.makeAsyncIterator()
            let id = try #require(migrator.migrateSessions().items.first?.credentialID)
            migrator.migrateSessions()
            guard case .stored(let credential) = await events.next() else {
                Issue.record("The first event is another one.")
                return
            }
            let imported = try Credential.loadDefault()
            #expect(credential === imported && credential.id == id)
            while !seen.withLock({ $0.contains(id) }) { await MainActor.run {} }
            await MainActor.run {}
            #expect(seen.withLock { $0.filter { $0 == id } } == [id])
        }
    }
}
