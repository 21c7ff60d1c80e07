import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

/// The rules that hold for the sessions of every SDK, shown with those of okta-oidc-ios.
@Suite("Rules of the migration of sessions")
struct MigrationRulesTests {
    static let notes = "com.countersign.migration"

    let fixture = MigrationFixture()
    let other = "0oa9Zyxwvutsrqponmlk"

    private var context: KeychainDouble.Context { KeychainDouble.Context() }

    private var original: [String] { fixture.accounts("") }

    private func refreshed(_ access: String, expiresIn: Int64 = 3600) throws -> Token {
        let stored = try #require(try Credential.loadDefault()).token
        return try stored.replaced(
            by: Token(
                id: "new", issuedAt: fixture.clock.now, context: stored.context,
                response: JSON(#"{"access_token":"\#(access)","token_type":"Bearer","expires_in":\#(expiresIn)}"#)))
    }

    private func store(_ token: Token) throws {
        try fixture.storage.inCredentialActor { try $0.replace(token: token.id, with: token, security: nil) }
    }

    // MARK: - Order, and interrupted runs

    @Test("The original stays until the app removes it")
    func keepsOriginal() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            let migrator = fixture.legacyOIDC()
            try migrator.migrate()
            try store(refreshed("access-2"))
            try migrator.migrate()
            #expect(original == [MigrationFixture.client])
            #expect(migrator.removeOriginals().items.map(\.isOriginalRemoved) == [true] && original.isEmpty)
            #expect(!migrator.needsMigration && migrator.removeOriginals().items.isEmpty)
            #expect(try Credential.loadDefault()?.token.accessToken == "access-2")
        }
    }

    @Test("The original is removed by the import only after the new entry and its note are stored")
    func removesLast() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            let migrator = fixture.legacyOIDC(originals: .removeAfterImport)
            fixture.keychain.fail(.add, MigrationFixture.tokens)
            #expect(throws: KeychainError.cannotSave(code: -25_291)) { try migrator.migrate() }
            #expect(original == [MigrationFixture.client] && migrator.needsMigration)
            fixture.keychain.succeed()
            fixture.keychain.fail(.add, Self.notes)
            #expect(throws: KeychainError.cannotSave(code: -25_291)) { try migrator.migrate() }
            #expect(original == [MigrationFixture.client] && Credential.allIDs.isEmpty && migrator.needsMigration)
            fixture.keychain.succeed()
            let item = try #require(migrator.migrateSessions().items.first)
            #expect(item.outcome == .imported && item.isOriginalRemoved && original.isEmpty)
            #expect(try Credential.loadDefault()?.token.accessToken == "access-1")
        }
    }

    @Test("A new entry that cannot be read back is removed, and the original stays for the next run")
    func readsBack() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            let migrator = fixture.legacyOIDC(originals: .removeAfterImport)
            fixture.keychain.fail(.read, MigrationFixture.tokens)
            #expect(throws: KeychainError.cannotGet(code: -25_291)) { try migrator.migrate() }
            #expect(original == [MigrationFixture.client] && fixture.accounts(MigrationFixture.tokens).isEmpty)
            fixture.keychain.succeed()
            fixture.keychain.changesReads.exchange(true)
            let reason = try #require(migrator.migrateSessions().items.first?.reason)
            #expect(reason.code == .storageFailed && original == [MigrationFixture.client])
            #expect(fixture.accounts(MigrationFixture.tokens).isEmpty)
            fixture.keychain.changesReads.exchange(false)
            #expect(migrator.migrateSessions().items.map(\.outcome) == [.imported])
        }
    }

    @Test("An original that cannot be removed does not undo the import, and the next run removes it")
    func removalFails() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            let migrator = fixture.legacyOIDC(originals: .removeAfterImport)
            fixture.keychain.fail(.delete, "")
            let item = try #require(migrator.migrateSessions().items.first)
            #expect(item.outcome == .imported && !item.isOriginalRemoved && Credential.allIDs == [MigrationFixture.client])
            #expect(throws: KeychainError.cannotDelete(code: -25_291)) { try migrator.migrate() }
            fixture.keychain.succeed()
            #expect(migrator.needsMigration)
            try migrator.migrate()
            #expect(original.isEmpty && !migrator.needsMigration)
        }
    }

    @Test("If a run ends between the new entry and its note, the next run writes the note and adds no second credential")
    func interrupted() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            try fixture.legacyOIDC().migrate()
            fixture.clock.advance(by: 10)
            let app = KeychainDouble.App(device: fixture.device)
            #expect(app.delete(KeychainQuery(service: Self.notes)) == KeychainStatus.success)
            let migrator = fixture.legacyOIDC()
            #expect(migrator.needsMigration && migrator.dryRun().items.map(\.outcome) == [.alreadyImported])
            #expect(migrator.needsMigration)
            #expect(migrator.migrateSessions().items.map(\.outcome) == [.alreadyImported])
            #expect(Credential.allIDs == [MigrationFixture.client] && !migrator.needsMigration)
        }
    }

    // MARK: - Repeated runs

    @Test("A second run imports nothing, even after the user signed out")
    func signedOut() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            let migrator = fixture.legacyOIDC()
            #expect(migrator.migrateSessions().items.map(\.outcome) == [.imported])
            #expect(migrator.migrateSessions().items.map(\.outcome) == [.alreadyImported] && Credential.allIDs.count == 1)
            try #require(try Credential.loadDefault()).remove()
            let reads = fixture.keychain.reads.count
            #expect(!migrator.needsMigration && migrator.migrateSessions().items.map(\.outcome) == [.alreadyImported])
            #expect(Credential.allIDs.isEmpty && fixture.keychain.reads.count == reads)
            #expect(fixture.legacyOIDC(other).migrateSessions().items.isEmpty)
        }
    }

    @Test("After a sign-out, the same session in a changed entry, such as after the restore of a backup, is not imported again")
    func restoredBackup() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            try fixture.legacyOIDC().migrate()
            try #require(try Credential.loadDefault()).remove()
            fixture.replace(OktaOIDCArchive.current.data)
            #expect(fixture.legacyOIDC().dryRun().items.map(\.outcome) == [.alreadyImported] && fixture.legacyOIDC().needsMigration)
            #expect(fixture.legacyOIDC().migrateSessions().items.map(\.outcome) == [.alreadyImported])
            #expect(Credential.allIDs.isEmpty && !fixture.legacyOIDC().needsMigration)
        }
    }

    @Test("A note is part of a backup, is not synchronized, and a note of an unknown form counts as an import")
    func notes() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            try fixture.legacyOIDC().migrate()
            let note = try #require(fixture.device.records(of: Self.notes).first { $0.account != "device" })
            #expect(note.protection.accessibility == .afterFirstUnlock && !note.isSynchronizable)
            try #require(try Credential.loadDefault()).remove()
            let changes = KeychainChanges(generic: Data("{}".utf8))
            #expect(fixture.keychain.update(KeychainQuery(service: Self.notes), changes, context: nil) == KeychainStatus.success)
            #expect(fixture.legacyOIDC().migrateSessions().items.map(\.outcome) == [.alreadyImported] && Credential.allIDs.isEmpty)
        }
    }

    @Test("A session that is skipped is not tried again until it or the settings change")
    func skippedOnce() async throws {
        fixture.put(Data("damaged".utf8))
        try await fixture.run {
            let migrator = fixture.legacyOIDC()
            #expect(migrator.needsMigration)
            try migrator.migrate()
            let reads = fixture.keychain.reads.count
            let item = try #require(migrator.migrateSessions().items.first)
            #expect(!migrator.needsMigration && fixture.keychain.reads.count == reads)
            #expect(item.outcome == .skipped(.unreadable) && item.reason?.message == Migration.SkipReason.unreadable.message)
            let changed = Migration.LegacyOIDC(
                try SessionDraft.Expectation(clientId: MigrationFixture.client, redirectUri: url("com.example:/x")),
                keychains: [fixture.keychain])
            #expect(changed.needsMigration)
            fixture.replace(OktaOIDCArchive.current.data)
            #expect(migrator.needsMigration && migrator.migrateSessions().items.map(\.outcome) == [.imported])
        }
    }

    @Test("A migration sends no request")
    func noRequests() async throws {
        fixture.put(OktaOIDCArchive.refreshed.data)
        try await fixture.run {
            #expect(fixture.legacyOIDC().dryRun().items.count == 1)
            fixture.legacyOIDC().migrateSessions()
            fixture.legacyOIDC().migrateSessions()
            #expect(fixture.session.requests("").isEmpty)
        }
    }

    @Test(
        "On a device that was restored from another one's backup, the original stays, because the user did not remove the session",
        arguments: [Migration.Originals.removeAfterImport, .removeAfterRefresh])
    func otherDevice(originals: Migration.Originals) async throws {
        let data = AppAuthArchive.complete.data
        let defaults = try #require(UserDefaults(suiteName: fixture.suite))
        defaults.set(data, forKey: "authState")
        try await fixture.run {
            let location = Migration.Location.userDefaults(key: "authState", suite: fixture.suite)
            #expect(fixture.appAuth(location).migrateSessions().items.map(\.outcome) == [.imported])
            fixture.device.moveToNewDevice()
            #expect(Credential.allIDs.isEmpty && fixture.accounts(Self.notes).count == 1)
            let migrator = fixture.appAuth(location, originals: originals)
            #expect(!migrator.needsMigration)
            #expect(migrator.migrateSessions().items.map(\.isOriginalRemoved) == [false] && defaults.data(forKey: "authState") == data)
            // The app can still remove it.
            #expect(migrator.removeOriginals().items.map(\.isOriginalRemoved) == [true])
        }
    }

    // MARK: - Failures

    @Test("One damaged session does not stop the others, and the report names it")
    func oneFails() async throws {
        fixture.put(Data("damaged".utf8), account: other)
        fixture.put(OktaOIDCArchive.current.data)
        fixture.put(AppAuthArchive.complete.data, account: "0oa2Abcdefghijklmnop")
        try await fixture.run {
            let report = fixture.legacyOIDC(nil).migrateSessions()
            #expect(report.items(.imported).map(\.name) == [MigrationFixture.client])
            #expect(report.skipped.map(\.name).sorted() == ["0oa2Abcdefghijklmnop", other])
            #expect(Credential.allIDs == [MigrationFixture.client])
        }
    }

    @Test(
        "While the device is locked, a run throws or reports the lock and removes nothing, and after the unlock a run imports the session")
    func locked() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            let migrator = fixture.legacyOIDC()
            fixture.device.lock = .locked
            #expect(migrator.needsMigration && migrator.dryRun().items.map(\.outcome) == [.locked])
            #expect { try migrator.migrate() } throws: { ($0 as? KeychainError)?.isLocked == true }
            fixture.device.lock = .unlocked
            try migrator.migrate()
            #expect(Credential.allIDs == [MigrationFixture.client] && !migrator.needsMigration)
            fixture.device.lock = .beforeFirstUnlock
            #expect(migrator.needsMigration && migrator.migrateSessions().items.map(\.outcome) == [.locked])
            #expect(migrator.removeOriginals().items.map(\.outcome) == [.locked])
            fixture.device.lock = .unlocked
            #expect(!migrator.needsMigration && original == [MigrationFixture.client])
        }
    }

    @Test("If the device is locked during a run, the session is reported as locked and not as protected")
    func lockedDuringRun() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            fixture.keychain.beforeRead { fixture.device.lock = .locked }
            #expect(fixture.legacyOIDC().migrateSessions().items.map(\.outcome) == [.locked])
            fixture.device.lock = .unlocked
            #expect(fixture.legacyOIDC().migrateSessions().items.map(\.outcome) == [.imported])
        }
    }

    @Test("A session that disappears during a run is not reported, nor are the sessions of a Keychain that the program may not use")
    func gone() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            fixture.keychain.fail(.read, "", status: KeychainStatus.itemNotFound)
            #expect(fixture.legacyOIDC().migrateSessions().items.isEmpty)
            fixture.keychain.succeed()
            fixture.keychain.fail(.list, "", status: KeychainStatus.missingEntitlement)
            #expect(fixture.legacyOIDC().migrateSessions().items.isEmpty && !fixture.legacyOIDC().needsMigration)
            fixture.keychain.succeed()
            fixture.keychain.fail(.list, "")
            #expect(throws: KeychainError.cannotList(code: -25_291)) { try fixture.legacyOIDC().migrate() }
        }
    }

    // MARK: - Dry run

    @Test("The check whether a migration is needed reads no value, even if the original is due for removal")
    func needsNoValue() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            #expect(fixture.legacyOIDC().needsMigration && fixture.keychain.reads.isEmpty)
            try fixture.legacyOIDC().migrate()
            let reads = fixture.keychain.reads.count
            #expect(fixture.legacyOIDC(originals: .removeAfterImport).needsMigration && fixture.keychain.reads.count == reads)
        }
    }

    @Test("A dry run reports what a migration would do, and stores, notes and removes nothing")
    func dryRun() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        fixture.put(Data("damaged".utf8), account: other)
        fixture.put(OktaOIDCArchive.otherUser.data, account: "0oa2Abcdefghijklmnop", accessControl: .flags(1))
        try await fixture.run {
            let migrator = fixture.legacyOIDC(nil, originals: .removeAfterImport)
            for _ in 0..<2 {
                let outcomes = Dictionary(uniqueKeysWithValues: migrator.dryRun().items.map { ($0.name, $0.outcome) })
                #expect(
                    outcomes == [
                        MigrationFixture.client: .importable, other: .skipped(.unreadable), "0oa2Abcdefghijklmnop": .protected,
                    ])
            }
            #expect(Credential.allIDs.isEmpty && fixture.accounts(Self.notes).isEmpty && original.count == 3 && migrator.needsMigration)
            #expect(fixture.device.prompts.isEmpty)
        }
    }

    @Test("Neither a dry run nor the check whether a migration is needed removes the sessions of an earlier installation")
    func dryRunAfterInstallation() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        let folder = TemporaryFolder()
        func storage() -> KeychainTokenStorage {
            KeychainTokenStorage(fixture.keychain, earlierInstallation: .remove(marker: folder.file("marker")), clock: fixture.clock)
        }
        try await Credential.withStorage(storage(), session: fixture.session, clock: fixture.clock) {
            _ = try Credential.store(.fixture(id: "own", access: "own-a", refresh: "own-r"))
        }
        fixture.clock.advance(by: 10)
        try FileManager.default.removeItem(at: folder.file("marker"))
        await Credential.withStorage(storage(), session: fixture.session, clock: fixture.clock) {
            let migrator = fixture.legacyOIDC(originals: .removeAfterImport)
            #expect(migrator.dryRun().items.map(\.outcome) == [.importable] && migrator.needsMigration)
            #expect(fixture.accounts(MigrationFixture.tokens) == ["own"])
            #expect(!FileManager.default.fileExists(atPath: folder.file("marker").path))
        }
    }
}
