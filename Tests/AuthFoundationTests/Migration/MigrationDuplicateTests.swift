import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Duplicates and originals of migrated sessions")
struct MigrationDuplicateTests {
    let fixture = MigrationFixture()
    let early = "OktaAuthStateTokenManager"

    private var tokens: [String] { fixture.accounts(MigrationFixture.tokens) }

    private var duplicate: Migration.Outcome { .skipped(Migration.SkipReason(.duplicate, "")) }

    /// Returns a later token of the default credential.
    private func refreshed(_ access: String, expiresIn: Int64 = 3600) throws -> Token {
        let stored = try #require(try Credential.loadDefault()).token
        let response = try JSON(#"{"access_token":"\#(access)","token_type":"Bearer","expires_in":\#(expiresIn)}"#)
        return try stored.replaced(by: Token(id: "new", issuedAt: fixture.clock.now, context: stored.context, response: response))
    }

    private func store(_ token: Token) throws {
        try fixture.storage.inCredentialActor { try $0.replace(token: token.id, with: token, security: nil) }
    }

    // MARK: - Duplicates

    @Test("Of two sessions of one user, issuer and client, the one that expires later is imported", arguments: [true, false])
    func latest(isFirst: Bool) async throws {
        let archives = [OktaOIDCArchive.later.data, OktaOIDCArchive.current.data]
        fixture.put(archives[isFirst ? 0 : 1])
        fixture.put(archives[isFirst ? 1 : 0], account: early)
        try await fixture.run {
            let report = fixture.legacyOIDC().migrateSessions()
            #expect(report.items.map(\.outcome) == [.imported, duplicate] && Set(report.items.map(\.credentialID)).count == 1)
            let token = try Credential.loadDefault()?.token
            #expect(token?.accessToken == "access-9")
            #expect(tokens.count == 1 && !fixture.legacyOIDC().needsMigration)
        }
    }

    @Test("Two entries with the same refresh token are one session, also without an ID token")
    func sameRefreshToken() async throws {
        fixture.put(OktaOIDCArchive.refreshed.data)
        fixture.put(OktaOIDCArchive.refreshed.data, account: early)
        try await fixture.run {
            #expect(fixture.legacyOIDC().migrateSessions().items.map(\.outcome) == [.imported, duplicate] && tokens.count == 1)
        }
    }

    @Test("Sessions of two users are two credentials, and the latest entry becomes the default")
    func twoUsers() async throws {
        fixture.put(OktaOIDCArchive.otherUser.data, account: early)
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            #expect(fixture.legacyOIDC().migrateSessions().items.map(\.outcome) == [.imported, .imported])
            #expect(tokens == [MigrationFixture.client, early])
            let credential = try Credential.loadDefault()
            #expect(credential?.id == MigrationFixture.client)
        }
    }

    @Test("A later session in the app's own storage is kept, and the one of the other SDK is a duplicate")
    func ownIsLater() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            let own = try ownToken(expiresIn: 7200)
            try Credential.store(own)
            let item = try #require(fixture.legacyOIDC().migrateSessions().items.first)
            #expect(item.outcome == duplicate && item.credentialID == "own" && tokens == ["own"])
            #expect(try Credential.loadDefault()?.token == own && !fixture.legacyOIDC().needsMigration)
        }
    }

    @Test("After the app went back to the other SDK, the next migration replaces the imported session with the later one")
    func wentBack() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            try fixture.legacyOIDC().migrate()
            fixture.replace(OktaOIDCArchive.later.data)
            let migrator = fixture.legacyOIDC()
            #expect(migrator.needsMigration && migrator.dryRun().items.map(\.outcome) == [.importable])
            #expect(try Credential.loadDefault()?.token.accessToken == "access-1")
            #expect(migrator.migrateSessions().items.map(\.outcome) == [.imported] && tokens == [MigrationFixture.client])
            #expect(try Credential.loadDefault()?.token.accessToken == "access-9")
        }
    }

    @Test("An expired session of the other SDK does not replace one that was refreshed and has expired since")
    func bothExpired() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            try fixture.legacyOIDC().migrate()
            fixture.clock.advance(by: 1800)
            try store(refreshed("access-2"))
            fixture.clock.advance(by: 86_400)
            // Another entry with the first, long expired session.
            fixture.put(OktaOIDCArchive.current.data, account: early)
            #expect(fixture.legacyOIDC().migrateSessions().items.map(\.outcome) == [.alreadyImported, duplicate])
            #expect(try Credential.loadDefault()?.token.accessToken == "access-2")
        }
    }

    private func ownToken(id: String = "own", expiresIn: Int64) throws -> Token {
        let draft = try AuthStateArchive.oktaOIDC(OktaOIDCArchive.current.data)
        let session = try draft.session(id: id, now: fixture.clock.now, .init())
        let response = try JSON(
            #"{"access_token":"own-a","refresh_token":"own-r","token_type":"Bearer","expires_in":\#(expiresIn),"#
                + #""id_token":"\#(try #require(draft.idToken))"}"#)
        return try Token(id: id, issuedAt: fixture.clock.now, context: session.token.context, response: response)
    }

    // MARK: - Places that other programs can write

    @Test("A later session whose place no run has imported from does not replace the app's own session")
    func unknownPlace() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            let own = try ownToken(expiresIn: 60)
            try Credential.store(own)
            #expect(fixture.legacyOIDC().migrateSessions().items.map(\.outcome) == [duplicate] && tokens == ["own"])
            #expect(try Credential.loadDefault()?.token == own)
        }
    }

    @Test("A forged later session in a Keychain that other programs can write is a duplicate of the app's session and never replaces it")
    func forgedDuplicate() async throws {
        let open = fixture.openKeychain(OktaOIDCArchive.later.data)
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            let migrator = fixture.legacyOIDC(in: [open])
            let outcomes = migrator.migrateSessions().items.map(\.outcome)
            #expect(outcomes == [.imported, duplicate])
            let first = try Credential.loadDefault()?.token.accessToken
            migrator.migrateSessions()
            let second = try Credential.loadDefault()?.token.accessToken
            #expect(first == "access-1" && second == "access-1" && tokens.count == 1)
        }
    }

    @Test("A later session in a place that other programs can write does not replace the session that was imported from there")
    func forgedReplacement() async throws {
        let open = fixture.openKeychain(OktaOIDCArchive.current.data)
        try await fixture.run {
            let migrator = fixture.legacyOIDC(in: [open])
            #expect(migrator.migrateSessions().items.map(\.outcome) == [.imported])
            fixture.clock.advance(by: 10)
            let changes = KeychainChanges(value: OktaOIDCArchive.later.data)
            #expect(open.update(KeychainQuery(service: ""), changes, context: nil) == KeychainStatus.success)
            #expect(migrator.migrateSessions().items.map(\.outcome) == [duplicate])
            let access = try Credential.loadDefault()?.token.accessToken
            #expect(access == "access-1" && tokens.count == 1)
        }
    }

    @Test("A newer session in a Keychain that other programs can write does not become the default if the app's Keychain has one")
    func forgedDefault() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        fixture.clock.advance(by: 10)
        let open = fixture.openKeychain(OktaOIDCArchive.otherUser.data, account: early)
        try await fixture.run {
            #expect(fixture.legacyOIDC(in: [open]).migrateSessions().items.map(\.outcome) == [.imported, .imported])
            let credential = try Credential.loadDefault()
            #expect(credential?.id == MigrationFixture.client)
        }
    }

    @Test("A session replaces an earlier one only if no more apps and no more devices can read it afterwards")
    func replacement() async throws {
        for (options, original, group, expected) in [
            (KeychainOptions(), Keychain.Accessibility.unlockedThisDeviceOnly, "app", Keychain.Accessibility.unlockedThisDeviceOnly),
            (KeychainOptions(accessibility: .unlocked), .afterFirstUnlockThisDeviceOnly, "app", .unlockedThisDeviceOnly),
            (KeychainOptions(accessibility: .whenPasswordSetThisDeviceOnly), .afterFirstUnlock, "app", .whenPasswordSetThisDeviceOnly),
            (KeychainOptions(accessibility: .afterFirstUnlock), .afterFirstUnlock, "app", .afterFirstUnlock),
            (KeychainOptions(accessControl: .flags(1)), .unlocked, "app", nil), (KeychainOptions(), .unlocked, "shared", nil),
        ] as [(KeychainOptions, Keychain.Accessibility, String, Keychain.Accessibility?)] {
            let fixture = MigrationFixture()
            fixture.put(OktaOIDCArchive.current.data, group: group, original)
            try await fixture.run {
                try fixture.legacyOIDC().migrate()
                // The app has stored the session again, with another protection.
                try fixture.storage.inCredentialActor { storage in
                    let token = try ownToken(id: MigrationFixture.client, expiresIn: 60)
                    try storage.remove(id: token.id)
                    try storage.add(token: token, metadata: nil, options: options)
                }
                fixture.replace(OktaOIDCArchive.later.data)
                let outcome = fixture.legacyOIDC().migrateSessions().items.first?.outcome
                #expect(outcome == (expected == nil ? duplicate : .imported))
                let entry = try #require(fixture.device.records(of: MigrationFixture.tokens).first)
                if let expected { #expect(entry.protection.accessibility == expected) }
                let stored = try Credential.with(id: MigrationFixture.client, authenticationContext: KeychainDouble.Context())?.token
                #expect(stored?.accessToken == (expected == nil ? "own-a" : "access-9"))
            }
        }
    }

    @Test("A replacement whose note cannot be stored is undone, and the earlier session stays")
    func replacementFails() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            try fixture.legacyOIDC().migrate()
            let first = try Credential.loadDefault()?.token
            fixture.replace(OktaOIDCArchive.later.data)
            fixture.keychain.fail(.update, MigrationRulesTests.notes)
            #expect(throws: KeychainError.self) { try fixture.legacyOIDC().migrate() }
            let stored = try Credential.loadDefault()?.token
            #expect(stored == first && stored?.accessToken == "access-1" && fixture.legacyOIDC().needsMigration)
        }
    }

    @Test("A session whose id another user's session has gets an id of its own, which is the same in each run")
    func takenID() async throws {
        fixture.put(OktaOIDCArchive.otherUser.data)
        try await fixture.run {
            try Credential.store(.fixture(id: MigrationFixture.client, access: "own-a", refresh: "own-r"))
            let first = try #require(fixture.legacyOIDC().migrateSessions().items.first)
            let id = try #require(first.credentialID)
            #expect(
                first.outcome == .imported && id != MigrationFixture.client && tokens.sorted() == [MigrationFixture.client, id].sorted())
            let app = KeychainDouble.App(device: fixture.device)
            #expect(app.delete(KeychainQuery(service: MigrationRulesTests.notes)) == KeychainStatus.success)
            #expect(fixture.legacyOIDC().migrateSessions().items.map(\.credentialID) == [id] && tokens.count == 2)
        }
    }

    // MARK: - Originals

    @Test("With removal after a refresh, the original stays until the session was refreshed")
    func removesAfterRefresh() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            let migrator = fixture.legacyOIDC(originals: .removeAfterRefresh)
            try migrator.migrate()
            try migrator.migrate()
            #expect(!migrator.needsMigration && fixture.accounts("") == [MigrationFixture.client])
            try store(refreshed("access-2"))
            #expect(migrator.needsMigration && migrator.dryRun().items.map(\.isOriginalRemoved) == [false])
            #expect(migrator.migrateSessions().items.map(\.isOriginalRemoved) == [true])
            #expect(fixture.accounts("").isEmpty && !migrator.needsMigration && tokens == [MigrationFixture.client])
        }
    }

    @Test("With removal after a refresh, the original is removed after the user signed out, and duplicates with it")
    func removesAfterSignOut() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        fixture.put(OktaOIDCArchive.later.data, account: early)
        try await fixture.run {
            let migrator = fixture.legacyOIDC(originals: .removeAfterRefresh)
            try migrator.migrate()
            #expect(fixture.accounts("").count == 2)
            try #require(try Credential.loadDefault()).remove()
            #expect(migrator.needsMigration)
            #expect(migrator.migrateSessions().items.map(\.isOriginalRemoved) == [true, true])
            #expect(fixture.accounts("").isEmpty && Credential.allIDs.isEmpty)
        }
    }

    @Test("A credential that requires the user's authentication is not treated as removed, so its original stays")
    func unreadableIsNotRemoved() async throws {
        fixture.put(OktaOIDCArchive.current.data, accessControl: .flags(1))
        try await fixture.run {
            let migrator = fixture.legacyOIDC(originals: .removeAfterRefresh)
            migrator.migrateSessions(authenticationContext: KeychainDouble.Context())
            #expect(tokens == [MigrationFixture.client] && !migrator.needsMigration)
            try migrator.migrate()
            #expect(fixture.accounts("") == [MigrationFixture.client])
        }
    }

    @Test("A skipped session keeps its original, and the originals stay while the token storage cannot be read")
    func keepsSkipped() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        fixture.put(Data("damaged".utf8), account: "0oa9Zyxwvutsrqponmlk")
        try await fixture.run {
            let migrator = fixture.legacyOIDC(nil, originals: .removeAfterImport)
            fixture.keychain.fail(.list, MigrationFixture.tokens)
            #expect(migrator.removeOriginals().items.map { $0.reason?.code } == [.storageFailed])
            migrator.migrateSessions()
            #expect(fixture.accounts("").count == 2)
            fixture.keychain.succeed()
            migrator.migrateSessions()
            migrator.removeOriginals()
            #expect(fixture.accounts("") == ["0oa9Zyxwvutsrqponmlk"])
        }
    }

    @Test("An archive that the app passed as data is not removed, and needs no further run")
    func dataStays() async throws {
        try await fixture.run {
            let migrator = fixture.appAuth(.data(AppAuthArchive.complete.data, name: "state"), originals: .removeAfterImport)
            let item = try #require(migrator.migrateSessions().items.first)
            #expect(item.outcome == .imported && !item.isOriginalRemoved && !migrator.needsMigration)
        }
    }

    @Test("An archive in the user defaults stays by default, and is removed if the app chose the removal after the import")
    func defaultsRemoved() async throws {
        UserDefaults(suiteName: fixture.suite)?.set(AppAuthArchive.complete.data, forKey: "authState")
        try await fixture.run {
            let location = Migration.Location.userDefaults(key: "authState", suite: fixture.suite)
            #expect(fixture.appAuth(location).migrateSessions().items.map(\.outcome) == [.imported])
            #expect(UserDefaults(suiteName: fixture.suite)?.data(forKey: "authState") != nil)
            #expect(fixture.appAuth(location, originals: .removeAfterImport).migrateSessions().items.map(\.isOriginalRemoved) == [true])
            #expect(UserDefaults(suiteName: fixture.suite)?.data(forKey: "authState") == nil)
        }
    }
}
