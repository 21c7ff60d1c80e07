import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Sessions of AppAuth")
struct AppAuthTests {
    typealias Expectation = SessionDraft.Expectation

    let fixture = MigrationFixture()

    @Test("A complete archive becomes a credential with all tokens, the client and the further members of the response")
    func complete() async throws {
        let token = try await fixture.imported(.complete)
        #expect(token.accessToken == "access-1" && token.refreshToken == "refresh-1" && token.tokenType == "Bearer")
        #expect(token.scope == ["openid", "profile", "offline_access"] && token.idToken?.subject == "user-1")
        #expect(token.deviceSecret == "device-1" && token.payload["custom"] != nil)
        #expect(token.payload["round"] as? Int == 2)
        // The lifetime counts from the import, because only the expiry time is known.
        #expect(token.issuedAt == fixture.clock.now && token.expiresIn == 3600)
        let configuration = token.context.configuration
        #expect(configuration.issuerURL.absoluteString == MigrationFixture.issuer && configuration.clientId == MigrationFixture.client)
        #expect(configuration.redirectUri?.absoluteString == "com.example.app:/callback" && configuration.logoutRedirectUri == nil)
        #expect(configuration.scope == ["openid", "profile", "offline_access"])
        #expect(configuration.discoveryURL.absoluteString == "\(MigrationFixture.issuer)/.well-known/openid-configuration")
    }

    @Test("A client secret is imported only if the app asks for it")
    func clientSecret() async throws {
        #expect(try await fixture.imported(.complete).context.configuration.authentication == .none)
        let other = MigrationFixture()
        let token = try await other.imported(.complete, Expectation(importsClientSecret: true))
        #expect(token.context.configuration.authentication == .clientSecret("client-secret-1"))
    }

    @Test("The imported credential has the tag migrated")
    func tags() async throws {
        try await fixture.run {
            fixture.appAuth(.data(AppAuthArchive.complete.data, name: "state")).migrateSessions()
            let id = try #require(Credential.allIDs.first)
            #expect(try fixture.storage.inCredentialActor { try $0.metadata(for: id).tags } == ["migrated": "true"])
        }
    }

    @Test("The refresh token of the state is imported, because that of the last response is older")
    func refreshed() async throws {
        let token = try await fixture.imported(.refreshed)
        #expect(token.refreshToken == "refresh-2" && token.idToken == nil)
    }

    @Test(
        "A state is imported if it is a member of an object of the app, or lacks the token response or the authorization response",
        arguments: [(AppAuthArchive.inApp, true), (.implicit, false), (.tokenOnly, true)])
    func shapes(archive: AppAuthArchive, hasRefreshToken: Bool) async throws {
        let token = try await fixture.imported(archive)
        #expect(token.accessToken == "access-1" && token.idToken?.subject == "user-1")
        #expect(token.refreshToken == (hasRefreshToken ? "refresh-1" : nil))
        #expect(token.context.configuration.clientId == MigrationFixture.client)
    }

    @Test(
        "The issuer is imported as the ID token writes it, even if only the ID token or the discovery document names it",
        arguments: [AppAuthArchive.issuerInIDToken, .issuerInDiscovery, .issuerInKeyedDiscovery, .issuerWithSlash])
    func issuers(archive: AppAuthArchive) async throws {
        #expect(try await fixture.imported(archive).context.configuration.issuerURL.absoluteString == MigrationFixture.issuer)
    }

    @Test("If an archive names no issuer, its session is imported only if the app names the issuer")
    func noIssuer() async throws {
        let token = try await fixture.imported(.noIssuer, Expectation(issuer: MigrationFixture.issuerURL()))
        #expect(token.context.configuration.issuerURL.absoluteString == MigrationFixture.issuer)
        #expect(try await outcome(AppAuthArchive.noIssuer.data) == .skipped(.incomplete("")))
    }

    @Test(
        "A token that must be refreshed, has no expiry time or is missing is imported without a remaining lifetime and without a request",
        arguments: [(AppAuthArchive.needsRefresh, "access-1"), (.noExpiry, "access-1"), (.noAccessToken, "")])
    func refreshesFirst(archive: AppAuthArchive, access: String) async throws {
        let token = try await fixture.imported(archive)
        #expect(token.accessToken == access && token.expiresIn == 0 && token.refreshToken == "refresh-1")
        #expect(fixture.session.requests("").isEmpty)
    }

    @Test("An expired token with a refresh token is imported without a remaining lifetime")
    func expiredWithRefreshToken() async throws {
        fixture.clock.advance(by: 86_400)
        let token = try await fixture.imported(.complete)
        #expect(token.expiresIn == 0 && token.issuedAt == fixture.clock.now && token.refreshToken == "refresh-1")
    }

    @Test(
        "A session is skipped if it has ended, its values are missing or unusable, or its ID token names another client or issuer",
        arguments: [
            (RefusedArchive.failed, Migration.SkipReason.Code.ended), (.otherIssuer, .otherIssuer), (.otherClient, .otherClient),
            (.insecure, .insecureIssuer), (.malformedIDToken, .invalidToken), (.malformedAccessToken, .invalidToken), (.expired, .expired),
            (.noTokens, .incomplete), (.noResponse, .incomplete), (.noClient, .incomplete), (.bound, .boundToKey),
        ])
    func refused(archive: RefusedArchive, code: Migration.SkipReason.Code) async throws {
        #expect(try await outcome(archive.data) == .skipped(Migration.SkipReason(code, "")))
    }

    @Test("A session of another client or issuer than the app named is skipped, and a trailing slash of the issuer makes no difference")
    func expectations() async throws {
        let data = AppAuthArchive.complete.data
        #expect(try await outcome(data, Expectation(clientId: "other")) == .skipped(Migration.SkipReason(.otherClient, "")))
        let other = try url("https://other.example.com")
        #expect(try await outcome(data, Expectation(issuer: other)) == .skipped(Migration.SkipReason(.otherIssuer, "")))
        let slash = try url("\(MigrationFixture.issuer)/")
        #expect(try await outcome(data, Expectation(issuer: slash, clientId: MigrationFixture.client)) == .imported)
    }

    @Test("The redirect URIs that the app names replace the stored ones, and its client id is used if the archive has none")
    func named() async throws {
        let expected = try Expectation(redirectUri: url("com.example.new:/a"), logoutRedirectUri: url("com.example.new:/b"))
        let configuration = try await fixture.imported(.complete, expected).context.configuration
        #expect(configuration.redirectUri?.absoluteString == "com.example.new:/a")
        #expect(configuration.logoutRedirectUri?.absoluteString == "com.example.new:/b")
        #expect(try await outcome(RefusedArchive.noClient.data, Expectation(clientId: MigrationFixture.client)) == .imported)
    }

    @Test("An archive is found in the Keychain, in the user defaults, and as data of the app")
    func locations() async throws {
        fixture.put(AppAuthArchive.complete.data, account: "authState", service: "login", group: "shared")
        for location in [
            Migration.Location.keychain(account: "authState", service: "login"),
            .keychain(account: "authState", service: "login", accessGroup: "shared"), .userDefaults(key: "authState", suite: fixture.suite),
            .data(AppAuthArchive.complete.data, name: "state"),
        ] {
            UserDefaults(suiteName: fixture.suite)?.set(AppAuthArchive.complete.data, forKey: "authState")
            try await fixture.run {
                #expect(fixture.appAuth(location).dryRun().items.map(\.outcome) == [.importable], "\(location)")
            }
        }
        for location in [
            Migration.Location.keychain(account: "authState", service: ""), .keychain(account: "other", service: "login"),
            .keychain(account: "authState", service: "login", accessGroup: "app"), .userDefaults(key: "authState", suite: fixture.suite),
        ] {
            try await fixture.run { #expect(fixture.appAuth(location).dryRun().items.isEmpty, "\(location)") }
        }
    }

    @Test("A location shows its name and no data")
    func description() {
        let location = Migration.Location.data(AppAuthArchive.complete.data, name: "state")
        #expect("\(location)" == "data state" && Mirror(reflecting: location).children.isEmpty)
        #expect("\(Migration.Location.keychain(account: "a", service: "b"))".contains("a"))
        #expect("\(Migration.Location.userDefaults(key: "k"))".contains("k"))
    }

    private func outcome(_ data: Data, _ expected: Expectation = .init()) async throws -> Migration.Outcome {
        let fixture = MigrationFixture()
        return try await fixture.run {
            let report = fixture.appAuth(.data(data, name: "state"), expected).migrateSessions()
            let outcome = try #require(report.items.first).outcome
            #expect(report.items.count == 1 && (outcome == .imported) == !Credential.allIDs.isEmpty)
            return outcome
        }
    }
}

extension KeychainTokenStorage {
    nonisolated func inCredentialActor<T: Sendable>(_ body: @CredentialActor (KeychainTokenStorage) throws -> T) rethrows -> T {
        try CredentialActor.synchronously { try body(self) }
    }
}
