import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Sessions of Auth0.swift")
struct Auth0Tests {
    var fixture = MigrationFixture()
    static let service = "com.example.app"

    private func put(_ archive: Auth0Archive) {
        fixture.put(archive.data, account: "credentials", service: Self.service, .afterFirstUnlock)
    }

    private func migrator(
        domain: String = "https://example.eu.auth0.com/", client: String = "auth0-client", usesBiometrics: Bool = false
    ) throws -> Migration.Auth0 {
        let expected = try SessionDraft.Expectation(
            issuer: url(domain), clientId: client, redirectUri: url("com.example.app://example.eu.auth0.com/ios/com.example.app/callback"))
        let location = Migration.Location.keychain(account: "credentials", service: Self.service)
        return Migration.Auth0(
            Auth0Source(location: location, expected: expected, usesBiometrics: usesBiometrics, keychains: [fixture.keychain]))
    }

    private func outcome(_ archive: Auth0Archive) async throws -> Migration.Outcome? {
        put(archive)
        return try await fixture.run { try migrator().migrateSessions().items.first?.outcome }
    }

    @Test("The stored credentials become a credential with the client and the issuer that the app named")
    func complete() async throws {
        put(.complete)
        try await fixture.run {
            #expect(try migrator().migrateSessions().items.map(\.outcome) == [.imported])
            let token = try #require(try Credential.loadDefault()).token
            #expect(token.accessToken == "access-1" && token.refreshToken == "refresh-1" && token.tokenType == "Bearer")
            #expect(token.scope == ["openid", "offline_access"] && token.issuedAt == fixture.clock.now && token.expiresIn == 3600)
            let configuration = token.context.configuration
            // The issuer has the slash of the ID token and of the discovery document.
            #expect(configuration.issuerURL.absoluteString == "https://example.eu.auth0.com/" && configuration.clientId == "auth0-client")
            #expect(configuration.discoveryURL.absoluteString == "https://example.eu.auth0.com/.well-known/openid-configuration")
            #expect(configuration.redirectUri?.host() == "example.eu.auth0.com")
        }
    }

    @Test("Credentials without an ID token, an access token, a token type or a scope are imported and refreshed at their first use")
    func partial() async throws {
        for archive in [Auth0Archive.noIDToken, .empty, .early, .slashless] {
            let fixture = MigrationFixture()
            let tests = Auth0Tests(fixture: fixture)
            #expect(try await tests.outcome(archive) == .imported, "\(archive)")
            let token = try fixture.storage.inCredentialActor { storage in
                try storage.get(token: #require(storage.allIDs.first), prompt: nil, authenticationContext: nil)
            }
            #expect(token.refreshToken == "refresh-1" && token.tokenType == "Bearer")
            #expect(token.expiresIn == (token.accessToken.isEmpty ? 0 : 3600))
        }
    }

    @Test("Tokens that are bound to a key of Auth0.swift are skipped")
    func bound() async throws {
        #expect(try await outcome(.bound) == .skipped(Migration.SkipReason(.boundToKey, "")))
    }

    @Test("Credentials of another tenant or client are skipped")
    func others() async throws {
        #expect(try await outcome(.otherTenant) == .skipped(Migration.SkipReason(.otherIssuer, "")))
        let other = Auth0Tests(fixture: MigrationFixture())
        other.put(.complete)
        try await other.fixture.run {
            let report = try other.migrator(client: "other-client").migrateSessions()
            #expect(report.items.map(\.outcome) == [.skipped(Migration.SkipReason(.otherClient, ""))])
        }
    }

    @Test(
        "A session is skipped if the end time that Auth0.swift stored has passed",
        arguments: [("1799999999", false), ("1800000000", false), ("1800000001", true), ("no number", true)])
    func ceiling(end: String, isImported: Bool) async throws {
        fixture.put(Data(end.utf8), account: "credentials_session_expiry", service: Self.service, .afterFirstUnlock)
        let expected = isImported ? Migration.Outcome.imported : .skipped(Migration.SkipReason(.ended, ""))
        #expect(try await outcome(.complete) == expected)
    }

    @Test("If the end time of a session cannot be read, the session is not imported, and the next run tries again")
    func unreadableCeiling() async throws {
        put(.complete)
        fixture.put(
            Data("1".utf8), account: "credentials_session_expiry", service: Self.service, .afterFirstUnlock, accessControl: .flags(1))
        try await fixture.run {
            let migrator = try migrator()
            #expect(migrator.migrateSessions().items.map(\.outcome) == [.locked])
            #expect(migrator.needsMigration && Credential.allIDs.isEmpty)
        }
    }

    @Test("A session that the app protected with biometrics is imported only with the user's authentication, and stays protected")
    func biometrics() async throws {
        put(.complete)
        try await fixture.run {
            let migrator = try migrator(usesBiometrics: true)
            #expect(migrator.dryRun().items.map(\.outcome) == [.protected])
            #expect(migrator.migrateSessions().items.map(\.outcome) == [.protected] && Credential.allIDs.isEmpty)
            #expect(migrator.needsMigration)
            #expect(migrator.migrateSessions(authenticationContext: KeychainDouble.Context()).items.map(\.outcome) == [.imported])
            let item = try #require(fixture.device.records(of: MigrationFixture.tokens).first)
            guard case .flags(1) = item.protection.accessControl else {
                Issue.record("The new entry requires no user.")
                return
            }
            #expect(item.protection.accessibility == .afterFirstUnlock && !migrator.needsMigration)
        }
    }

    @Test("The public initializer accepts a domain or an issuer, and refuses any other text")
    func domains() throws {
        for domain in ["example.eu.auth0.com", "https://example.eu.auth0.com/", "http://localhost:3000"] {
            #expect(throws: Never.self) { try Migration.Auth0(domain: domain, clientId: "auth0-client") }
        }
        for domain in ["", "https://", "a b"] {
            #expect(throws: OAuth2Error.self) { try Migration.Auth0(domain: domain, clientId: "auth0-client") }
        }
        #expect("\(Migration.Auth0.defaultLocation)".contains("credentials"))
    }
}
