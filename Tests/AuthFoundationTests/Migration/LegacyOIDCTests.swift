import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Sessions of okta-oidc-ios")
struct LegacyOIDCTests {
    let fixture = MigrationFixture()

    private func base64(_ client: String = MigrationFixture.client, issuer: String = MigrationFixture.issuer) -> String {
        Data("\(issuer)_\(client)".utf8).base64EncodedString()
    }

    @Test("A session becomes the default credential with the id, the tokens and the client of the other SDK", arguments: [true, false])
    func imports(isCurrent: Bool) async throws {
        fixture.put(isCurrent ? OktaOIDCArchive.current.data : OktaOIDCArchive.early.data)
        try await fixture.run {
            let migrator = fixture.legacyOIDC()
            #expect(migrator.needsMigration)
            let report = migrator.migrateSessions()
            let item = try #require(report.items.first)
            #expect(report.items.count == 1 && item.outcome == .imported && item.credentialID == MigrationFixture.client)
            #expect(item.sdk == "okta-oidc-ios" && item.name == MigrationFixture.client && !item.isOriginalRemoved)
            #expect(!migrator.needsMigration)
            let credential = try #require(try Credential.loadDefault())
            #expect(credential.id == MigrationFixture.client && credential.token.accessToken == "access-1")
            #expect(credential.token.refreshToken == "refresh-1" && credential.token.idToken?.subject == "user-1")
            #expect(credential.token.issuedAt == fixture.clock.now && credential.token.expiresIn == 3600)
            let configuration = credential.oauth2.configuration
            #expect(configuration.clientId == MigrationFixture.client && configuration.issuerURL.absoluteString == MigrationFixture.issuer)
            #expect(configuration.redirectUri?.absoluteString == "com.example.app:/callback")
            #expect(try fixture.storage.inCredentialActor { try $0.metadata(for: MigrationFixture.client).tags } == ["migrated": "true"])
        }
    }

    @Test("After a refresh without a new refresh token, the refresh token of the state is imported")
    func livingRefreshToken() async throws {
        fixture.put(OktaOIDCArchive.refreshed.data)
        try await fixture.run {
            fixture.legacyOIDC().migrateSessions()
            let token = try #require(try Credential.loadDefault()).token
            #expect(token.refreshToken == "refresh-2" && token.accessToken == "access-2" && token.idToken == nil)
            #expect(token.expiresIn == 3660)
        }
    }

    @Test(
        "A session of OktaAuth is imported with the settings that are stored beside it, whatever its Keychain service is",
        arguments: ["", "vinculum"])
    func oktaAuth(service: String) async throws {
        fixture.put(OktaOIDCArchive.oktaAuth.data, account: "OktaAuthStateTokenManager", service: service)
        try await fixture.run {
            #expect(fixture.legacyOIDC().migrateSessions().items.map(\.outcome) == [.imported])
            let configuration = try #require(try Credential.loadDefault()).oauth2.configuration
            #expect(configuration.clientId == MigrationFixture.client && configuration.issuerURL.absoluteString == MigrationFixture.issuer)
            #expect(configuration.redirectUri?.absoluteString == "com.example.app:/callback")
            #expect(configuration.logoutRedirectUri?.absoluteString == "com.example.app:/logout")
        }
    }

    // MARK: - Accounts

    @Test("The client's accounts of each SDK version are read, and other accounts are not")
    func accounts() async throws {
        let shortened = { (text: String) in String(text.prefix(20) + text.suffix(20)) }
        // The issuers have the three possible lengths of the base64 form.
        let issuers = ["https://id.example.com", "https://id.example.com/", "https://id.example.com/x"]
        let own =
            [MigrationFixture.client, "OktaAuthStateTokenManager", "OktaAuthStateManager", base64(issuer: "x")]
            + issuers.map { shortened(base64(issuer: $0)) }
        let others = [
            "0oa9Zyxwvutsrqponmlk", "other", base64("0oa9Zyxwvutsrqponmlk"), shortened(base64("0oa9Zyxwvutsrqponmlk")),
            "com.example.settings",
            "\(MigrationFixture.client)-settings", String(repeating: "a", count: 40),
        ]
        for account in own + others { fixture.put(Data("x".utf8), account: account) }
        try await fixture.run {
            #expect(fixture.legacyOIDC().migrateSessions().items.map(\.name).sorted() == own.sorted())
            #expect(Set(fixture.keychain.reads.filter { $0.service == "" }.compactMap(\.account)) == Set(own))
        }
    }

    @Test("Without a client id, the migration reads the accounts that contain a client id of Okta's form")
    func anyClient() async throws {
        let shortened = String(base64().prefix(20) + base64().suffix(20))
        let own = [MigrationFixture.client, "0oa9Zyxwvutsrqponmlk", base64(), shortened, "OktaAuthStateTokenManager"]
        let others = [
            "my-app", base64("my-app"), "0oa1", "\(MigrationFixture.client) \(MigrationFixture.client.reversed()) 0oa9Zyxwvutsrqponmlk",
            String(repeating: "a", count: 40),
        ]
        for account in own + others { fixture.put(Data("x".utf8), account: account) }
        try await fixture.run { #expect(fixture.legacyOIDC(nil).dryRun().items.map(\.name).sorted() == own.sorted()) }
    }

    @Test("A session whose client id has another form is imported if the app names the client id")
    func namedClient() async throws {
        fixture.put(OktaOIDCArchive.namedClient.data, account: "my-app")
        try await fixture.run {
            #expect(fixture.legacyOIDC(nil).dryRun().items.isEmpty)
            #expect(fixture.legacyOIDC("my-app").migrateSessions().items.map(\.outcome) == [.imported])
        }
    }

    @Test("A session of another client than the account names is skipped")
    func otherClient() async throws {
        fixture.put(OktaOIDCArchive.namedClient.data)
        try await fixture.run {
            let outcomes = fixture.legacyOIDC().migrateSessions().items.map(\.outcome)
            #expect(outcomes == [.skipped(Migration.SkipReason(.otherClient, ""))])
        }
    }

    @Test("An archive of AppAuth is skipped as unreadable where okta-oidc-ios stores its sessions")
    func otherArchive() async throws {
        fixture.put(AppAuthArchive.complete.data)
        try await fixture.run { #expect(fixture.legacyOIDC().migrateSessions().items.map(\.outcome) == [.skipped(.unreadable)]) }
    }

    // MARK: - Registration

    @Test("The published functions register a migrator for the client of the call or of a property list")
    func registration() throws {
        let before = Migration.migrators.all.count
        Migration.LegacyOIDC.register(clientId: "my-app")
        Migration.LegacyOIDC.register(clientId: nil)
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let settings = [
            "issuer": MigrationFixture.issuer, "clientId": "plist-app", "scopes": "openid", "redirectUri": "com.example:/plist",
        ]
        let file = folder.file("Okta.plist")
        try PropertyListSerialization.data(fromPropertyList: settings, format: .xml, options: 0).write(to: file)
        try Migration.LegacyOIDC.register(plist: file)
        #expect(throws: OAuth2Client.PropertyListConfigurationError.self) {
            try Migration.LegacyOIDC.register(plist: folder.file("Missing.plist"))
        }
        // The tests have no Okta.plist.
        #expect(throws: OAuth2Client.PropertyListConfigurationError.self) { try Migration.LegacyOIDC.register() }
        let registered = Migration.migrators.all.dropFirst(before).compactMap { $0 as? Migration.LegacyOIDC }
        #expect(registered.map { ($0.sessions.source as? LegacyOIDCSource)?.expected.clientId } == ["my-app", nil, "plist-app"])
        let last = registered.last?.sessions.source as? LegacyOIDCSource
        #expect(last?.expected.redirectUri?.absoluteString == "com.example:/plist" && last?.expected.issuer == nil)
        #expect(registered.allSatisfy { !$0.needsMigration })
    }
}
