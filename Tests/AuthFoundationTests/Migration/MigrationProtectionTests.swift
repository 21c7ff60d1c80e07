import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Protection of migrated sessions")
struct MigrationProtectionTests {
    let fixture = MigrationFixture()

    private var context: KeychainDouble.Context { KeychainDouble.Context() }

    private var entry: KeychainRecord? { fixture.device.records(of: MigrationFixture.tokens).first }

    @Test(
        "The new entry has the accessibility of the original, except that an always readable entry becomes readable after the first unlock",
        arguments: Keychain.Accessibility.allCases)
    func accessibility(original: Keychain.Accessibility) async throws {
        fixture.put(OktaOIDCArchive.current.data, original)
        try await fixture.run {
            fixture.legacyOIDC().migrateSessions()
            let expected: Keychain.Accessibility =
                switch original {
                case .always: .afterFirstUnlock
                case .alwaysThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
                default: original
                }
            #expect(entry?.protection.accessibility == expected && entry?.protection.accessControl == nil)
        }
    }

    @Test("The new entry is in the access group of the original", arguments: ["app", "shared"])
    func accessGroup(group: String) async throws {
        fixture.put(OktaOIDCArchive.current.data, group: group)
        try await fixture.run {
            fixture.legacyOIDC().migrateSessions()
            #expect(fixture.device.groups(of: MigrationFixture.tokens) == [group])
        }
    }

    @Test("A session whose attributes require the user's authentication is imported only with it, and stays protected")
    func accessControl() async throws {
        fixture.put(OktaOIDCArchive.current.data, .whenPasswordSetThisDeviceOnly, accessControl: .flags(8))
        try await checkProtected(.whenPasswordSetThisDeviceOnly)
    }

    @Test("A session that requires the user's authentication without such attributes is recognized without a prompt, and stays protected")
    func hiddenAccessControl() async throws {
        fixture.put(OktaOIDCArchive.current.data, accessControl: .flags(8))
        fixture.keychain.hidesAccessControl.exchange(true)
        try await checkProtected(.unlockedThisDeviceOnly)
    }

    private func checkProtected(_ accessibility: Keychain.Accessibility) async throws {
        try await fixture.run {
            let migrator = fixture.legacyOIDC()
            #expect(migrator.migrateSessions().items.map(\.outcome) == [.protected])
            try migrator.migrate()
            #expect(entry == nil && migrator.needsMigration && fixture.device.prompts.isEmpty)
            #expect(migrator.migrateSessions(authenticationContext: context).items.map(\.outcome) == [.imported])
            guard case .flags(8) = entry?.protection.accessControl else {
                Issue.record("The new entry requires no user.")
                return
            }
            #expect(entry?.protection.accessibility == accessibility && !migrator.needsMigration && fixture.device.prompts.isEmpty)
            let token = try Credential.with(id: MigrationFixture.client, authenticationContext: context)?.token
            #expect(token?.accessToken == "access-1")
        }
    }

    @Test("An authentication that the Keychain does not accept leaves the session for the next run", arguments: [-128, -25_293, -25_308])
    func refusedAuthentication(status: Int32) async throws {
        fixture.put(OktaOIDCArchive.current.data, accessControl: .flags(1))
        try await fixture.run {
            fixture.keychain.fail(.read, "", status: status)
            #expect(fixture.legacyOIDC().migrateSessions(authenticationContext: context).items.map(\.outcome) == [.protected])
            #expect(entry == nil && fixture.legacyOIDC().needsMigration)
        }
    }

    @Test("A protected session whose access control cannot be read is skipped, because its entry would be weaker")
    func lostAccessControl() async throws {
        fixture.put(OktaOIDCArchive.current.data, accessControl: .flags(1))
        fixture.keychain.hidesAccessControl.exchange(true)
        fixture.keychain.hidesObjects.exchange(true)
        try await fixture.run {
            let outcomes = fixture.legacyOIDC().migrateSessions(authenticationContext: context).items.map(\.outcome)
            #expect(outcomes == [.skipped(Migration.SkipReason(.protectionLost, ""))] && entry == nil)
        }
    }

    // MARK: - Synchronization

    /// Whether the new entry is synchronized, in an app that permits it.
    private func isSynchronized(_ original: Bool, accessControl: KeychainProtection.AccessControl? = nil) -> Bool? {
        var record = KeychainRecord(
            service: "", account: "x", protection: KeychainProtection(.afterFirstUnlock, accessControl: accessControl), value: nil)
        record.isSynchronizable = original
        let options = FoundSession(record, in: fixture.keychain, number: 0).options
        return options.isSynchronizable(isPermitted: true)
    }

    @Test("A session is synchronized only if its original was, the app permits it, and it has no access control")
    func synchronization() async throws {
        #expect(isSynchronized(true) == true && isSynchronized(false) == false && isSynchronized(true, accessControl: .flags(1)) == false)
        #expect(!KeychainOptions.unsynchronized.isSynchronizable(isPermitted: true))
        // The tests' app does not permit it.
        fixture.put(OktaOIDCArchive.current.data, .afterFirstUnlock, isSynchronizable: true)
        try await fixture.run {
            fixture.legacyOIDC().migrateSessions()
            #expect(entry?.isSynchronizable == false)
        }
    }

    @Test("An original that is synchronized is never removed, because other devices would lose it")
    func synchronizedOriginal() async throws {
        fixture.put(OktaOIDCArchive.current.data, .afterFirstUnlock, isSynchronizable: true)
        try await fixture.run {
            let migrator = fixture.legacyOIDC(originals: .removeAfterImport)
            let item = try #require(migrator.migrateSessions().items.first)
            #expect(item.outcome == .imported && !item.isOriginalRemoved && !migrator.needsMigration)
            #expect(migrator.removeOriginals().items.map(\.isOriginalRemoved) == [false])
            #expect(fixture.accounts("") == [MigrationFixture.client])
        }
    }

    @Test("Of an entry and its synchronized copy, the entry of the device is imported and removed, and the copy stays")
    func copies() async throws {
        fixture.put(OktaOIDCArchive.current.data, .afterFirstUnlock, isSynchronizable: true)
        fixture.put(OktaOIDCArchive.current.data, .unlocked)
        try await fixture.run {
            let report = fixture.legacyOIDC(originals: .removeAfterImport).migrateSessions()
            #expect(report.items.map(\.outcome) == [.imported, .skipped(Migration.SkipReason(.duplicate, ""))])
            #expect(report.items.map(\.isOriginalRemoved) == [true, false] && entry?.protection.accessibility == .unlocked)
            #expect(fixture.device.records(of: "").map(\.isSynchronizable) == [true])
        }
    }

    // MARK: - Secrets

    @Test("Neither reports nor errors nor notes contain a token or another secret")
    func secrets() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        fixture.put(Data("damaged access-1".utf8), account: "0oa9Zyxwvutsrqponmlk")
        let data = AppAuthArchive.complete.data
        try await fixture.run {
            fixture.keychain.fail(.add, MigrationFixture.tokens)
            var texts: [String] = []
            for _ in 0..<2 {
                for report in [fixture.legacyOIDC(nil).migrateSessions(), fixture.appAuth(.data(data, name: "state")).migrateSessions()] {
                    texts.append("\(report)")
                    dump(report, to: &texts[texts.count - 1])
                    texts += report.items.compactMap { $0.reason?.localizedDescription }
                }
                do { try fixture.legacyOIDC(nil).migrate() } catch { texts.append("\(error) \(error.localizedDescription)") }
                fixture.keychain.succeed()
            }
            let notes = fixture.device.records(of: MigrationRulesTests.notes)
            texts += notes.map { "\($0.account) \(String(decoding: $0.generic ?? Data(), as: UTF8.self)) \($0.value ?? Data())" }
            // Three notes, and the item that identifies the device.
            #expect(notes.count == 4)
            for secret in ["access-1", "refresh-1", "device-1", "client-secret-1", "eyJ"] {
                #expect(!texts.contains { $0.contains(secret) }, "\(secret)")
            }
            #expect(texts.contains { $0.contains("okta-oidc-ios \(MigrationFixture.client): imported") })
        }
    }

    @Test("A reason contains at most 100 characters of a stored client id or issuer, in one line")
    func longValues() throws {
        var draft = SessionDraft()
        draft.accessToken = "access-1"
        draft.clientId = "\nforged line\u{202E}" + String(repeating: "a\u{301}", count: 5_000)
        draft.issuer = try url("https://id.example.com/" + String(repeating: "x", count: 5_000))
        for expected in [SessionDraft.Expectation(clientId: "app"), SessionDraft.Expectation(issuer: try url("https://x.example.com"))] {
            let reason = #expect(throws: Migration.SkipReason.self) {
                try draft.session(id: "x", now: fixture.clock.now, expected)
            }
            let message = try #require(reason?.message)
            #expect(message.unicodeScalars.count < 300 && !message.contains("\n") && !message.contains("\u{202E}"))
        }
    }

    @Test("A run that compares a locked credential's token with a stored one leaves no token in the memory of the storage")
    func lockedCredential() async throws {
        fixture.put(OktaOIDCArchive.current.data)
        try await fixture.run {
            let credential = try Credential.store(.fixture(id: "own"))
            #expect(credential.lock())
            fixture.legacyOIDC().migrateSessions()
            let reads = fixture.keychain.reads.count
            #expect(try fixture.storage.inCredentialActor { try $0.storedToken(id: "own") }.accessToken == "access-1")
            #expect(fixture.keychain.reads.count == reads + 1)
        }
    }
}
