import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Credentials of okta-mobile-swift")
struct OktaMobileTests {
    static let tokens = "com.okta.authfoundation.keychain.storage"
    static let metadata = "com.okta.authfoundation.keychain.metadata"
    static let defaultAccount = "com.okta.authfoundation.keychain.default"
    static let first = "6D1C0000-0000-4000-8000-000000000001"
    static let second = "6D1C0000-0000-4000-8000-000000000002"
    static let third = "6D1C0000-0000-4000-8000-000000000003"

    let fixture = MigrationFixture()

    private func migrator(trusting: Set<URL> = [], originals: Migration.Originals = .keep) -> Migration.OktaMobile {
        let source = OktaMobileSource(suite: fixture.suite, trustedIssuers: trusting, keychains: [fixture.keychain])
        return Migration.OktaMobile(source, originals: originals, notesSuite: fixture.suite)
    }

    private func put(
        _ text: String, id: String, tags: String? = nil, default isDefault: Bool = false, group: String? = nil,
        _ accessibility: Keychain.Accessibility = .afterFirstUnlockThisDeviceOnly
    ) {
        fixture.put(Data(text.utf8), account: id, service: Self.tokens, group: group, accessibility)
        if let tags {
            fixture.put(
                Data(#"{"id":"\#(id)","tags":\#(tags),"payload":null}"#.utf8), account: id, service: Self.metadata, group: group,
                .afterFirstUnlock)
        }
        if isDefault { fixture.put(Data(id.utf8), account: Self.defaultAccount, .afterFirstUnlock) }
    }

    @Test("Credentials of all versions keep their ids, tags and settings, and the default stays the default")
    func imports() async throws {
        put(OktaMobileJSON.version1(), id: Self.first, tags: #"{"role":"work"}"#)
        put(OktaMobileJSON.version2(isString: true), id: Self.second, default: true)
        put(OktaMobileJSON.version2(id: Self.third, isString: false, access: "access-3", refresh: "refresh-3"), id: Self.third, tags: "{}")
        try await fixture.run {
            let migrator = migrator()
            #expect(migrator.needsMigration)
            let report = migrator.migrateSessions()
            #expect(report.items.map(\.outcome) == [.imported, .imported, .imported] && !migrator.needsMigration)
            #expect(Credential.allIDs.sorted() == [Self.first, Self.second, Self.third])
            #expect(try Credential.loadDefault()?.id == Self.second)
            #expect(try Credential.find { $0.tags["role"] == "work" }.map(\.id) == [Self.first])
            for (id, access) in [(Self.first, "access-1"), (Self.second, "access-2"), (Self.third, "access-3")] {
                let token = try #require(try Credential.with(id: id)).token
                #expect(token.accessToken == access && token.issuedAt == Date(timeIntervalSinceReferenceDate: 821_692_000.25))
                #expect(token.context.configuration.redirectUri?.absoluteString == "com.example:/callback")
            }
            #expect(try fixture.storage.inCredentialActor { try $0.metadata(for: Self.second).tags } == [:])
        }
    }

    @Test("Without a time of issue, the token's lifetime starts with that of its ID token, or the first use refreshes the token")
    func issuedAt() async throws {
        put(OktaMobileJSON.version1(issuedAt: ""), id: Self.first)
        put(
            OktaMobileJSON.version1(id: Self.third, issuedAt: "", refresh: "refresh-3", idToken: "").replacing(#""idToken":"","#, with: ""),
            id: Self.third)
        try await fixture.run {
            migrator().migrateSessions()
            #expect(try Credential.with(id: Self.first)?.token.issuedAt == Date(timeIntervalSince1970: 1_799_999_000))
            let token = try #require(try Credential.with(id: Self.third)).token
            #expect(token.idToken == nil && token.expiresAt.map { $0 < fixture.clock.now } == true)
        }
    }

    @Test("A token with an empty access token is imported")
    func emptyAccessToken() async throws {
        put(OktaMobileJSON.version1(access: ""), id: Self.first)
        try await fixture.run {
            #expect(migrator().migrateSessions().items.map(\.outcome) == [.imported])
            let credential = try Credential.with(id: Self.first)
            #expect(credential?.token.accessToken.isEmpty == true)
        }
    }

    @Test("Metadata without a token is not a session, and a token with unreadable metadata is imported")
    func orphans() async throws {
        fixture.put(Data(#"{"id":"orphan","tags":{}}"#.utf8), account: "orphan", service: Self.metadata)
        put(OktaMobileJSON.version1(), id: Self.first, tags: "17")
        try await fixture.run {
            #expect(migrator().migrateSessions().items.map(\.name) == [Self.first])
            #expect(Credential.allIDs == [Self.first])
        }
    }

    // MARK: - Default

    @Test(
        "If the other SDK had no default, or one whose credential is missing, there is no default after the migration",
        arguments: [nil, "gone"])
    func noDefault(id: String?) async throws {
        put(OktaMobileJSON.version1(), id: Self.first)
        if let id { fixture.put(Data(id.utf8), account: Self.defaultAccount) }
        try await fixture.run {
            #expect(migrator().migrateSessions().items.map(\.outcome) == [.imported])
            let credential = try Credential.loadDefault()
            #expect(credential == nil)
        }
    }

    @Test("A default that the app has set since stays the default")
    func ownDefault() async throws {
        put(OktaMobileJSON.version1(), id: Self.first, default: true)
        try await fixture.run {
            let own = try Credential.store(.fixture(id: "own", access: "own-a", refresh: "own-r"))
            #expect(migrator().migrateSessions().items.map(\.outcome) == [.imported])
            #expect(try Credential.loadDefault() === own)
        }
    }

    @Test("A protected default becomes the default when it is imported, and no other credential becomes the default before")
    func protectedDefault() async throws {
        put(OktaMobileJSON.version1(), id: Self.first)
        let value = Data(OktaMobileJSON.version2(isString: true).utf8)
        fixture.put(value, account: Self.second, service: Self.tokens, .unlockedThisDeviceOnly, accessControl: .flags(1))
        fixture.put(Data(Self.second.utf8), account: Self.defaultAccount)
        try await fixture.run {
            let migrator = migrator()
            #expect(migrator.migrateSessions().items.map(\.outcome).contains(.protected))
            let before = try Credential.loadDefault()
            #expect(Credential.allIDs == [Self.first] && before == nil)
            migrator.migrateSessions(authenticationContext: KeychainDouble.Context())
            #expect(fixture.storage.inCredentialActor { $0.defaultTokenID } == Self.second)
        }
    }

    @Test("A default that cannot be read stops the run before anything is stored")
    func unreadableDefault() async throws {
        put(OktaMobileJSON.version1(), id: Self.first)
        fixture.put(Data(Self.first.utf8), account: Self.defaultAccount, accessControl: .flags(1))
        try await fixture.run {
            let migrator = migrator()
            #expect(migrator.migrateSessions().items.map(\.outcome) == [.locked])
            #expect(Credential.allIDs.isEmpty && migrator.needsMigration)
        }
    }

    // MARK: - Checks

    @Test("Two credentials of the same user stay two")
    func sameUser() async throws {
        put(OktaMobileJSON.version1(), id: Self.first)
        put(OktaMobileJSON.version2(isString: true), id: Self.second)
        try await fixture.run {
            migrator().migrateSessions()
            #expect(Credential.allIDs.sorted() == [Self.first, Self.second])
        }
    }

    /// Stores a session of the second user in the app's own storage, under the id of the first one's entry.
    private func storeOther(expiresIn: Int64) throws -> Token {
        let response = try JSON(
            #"{"access_token":"other-a","refresh_token":"other-r","token_type":"Bearer","expires_in":\#(expiresIn),"#
                + #""id_token":"\#(OktaMobileJSON.idToken(subject: "user-2"))"}"#)
        let stored = try JSONDecoder().decode(OktaMobileToken.self, from: Data(OktaMobileJSON.version1().utf8))
        let token = try Token(id: Self.first, issuedAt: fixture.clock.now, context: stored.context, response: response)
        try Credential.store(token)
        return token
    }

    @Test(
        "Two users' credentials with the same id are two credentials, whichever expires later", arguments: [60, 864_000])
    func sameIDOfTwoUsers(expiresIn: Int64) async throws {
        put(OktaMobileJSON.version1(), id: Self.first, tags: #"{"role":"work"}"#)
        try await fixture.run {
            let other = try storeOther(expiresIn: expiresIn)
            let item = try #require(migrator().migrateSessions().items.first)
            let id = try #require(item.credentialID)
            #expect(item.outcome == .imported && id != Self.first && Set(Credential.allIDs) == [Self.first, id])
            #expect(try Credential.with(id: Self.first)?.token == other)
            let imported = try Credential.with(id: id)
            #expect(imported?.token.accessToken == "access-1" && imported?.tags["role"] == "work")
        }
    }

    @Test("Entries of two users with the same id in two access groups are two credentials")
    func sameIDInTwoGroups() async throws {
        put(OktaMobileJSON.version1(), id: Self.first, group: "app")
        let other = OktaMobileJSON.version1(
            access: "access-2", refresh: "refresh-2", idToken: OktaMobileJSON.idToken(subject: "user-2"))
        put(other, id: Self.first, group: "shared")
        try await fixture.run {
            #expect(migrator().migrateSessions().items.map(\.outcome) == [.imported, .imported])
            let access = try Credential.allIDs.map { try Credential.with(id: $0)?.token.accessToken }
            #expect(Set(access) == ["access-1", "access-2"])
        }
    }

    @Test("A stored discovery URL is kept only if it belongs to the issuer or to an issuer that the app trusts")
    func discoveryURL() async throws {
        let standard = "\(OktaMobileJSON.issuer)/.well-known/openid-configuration"
        let trusted: Set<URL> = [try url("https://example.okta.com")]
        for (stored, issuers, expected) in [
            ("https://evil.example.org/doc", [], standard), ("https://id.example.com:8443/doc", [], standard),
            ("http://id.example.com/doc", [], standard), ("https://example.okta.com/doc", [], standard),
            ("https://example.okta.com/doc", trusted, "https://example.okta.com/doc"),
            ("https://id.example.com/doc", [], "https://id.example.com/doc"),
        ] as [(String, Set<URL>, String)] {
            let fixture = MigrationFixture()
            let text = OktaMobileJSON.version1().replacing(standard, with: stored)
            fixture.put(Data(text.utf8), account: Self.first, service: Self.tokens)
            try await fixture.run {
                let source = OktaMobileSource(suite: fixture.suite, trustedIssuers: issuers, keychains: [fixture.keychain])
                #expect(Migration.OktaMobile(source).migrateSessions().items.map(\.outcome) == [.imported])
                let configuration = try Credential.with(id: Self.first)?.token.context.configuration
                #expect(configuration?.discoveryURL.absoluteString == expected)
            }
        }
    }

    @Test("An ID token of another issuer is accepted only if the app trusts this issuer")
    func trustedIssuers() async throws {
        let other = try url("https://example.okta.com/oauth2/default")
        put(OktaMobileJSON.version1(idToken: OktaMobileJSON.idToken(issuer: other.absoluteString)), id: Self.first)
        try await fixture.run {
            let item = try #require(migrator().migrateSessions().items.first)
            #expect(item.reason?.code == .otherIssuer && item.reason?.message.contains("trustedIssuers") == true)
            // The changed setting makes the next run try again.
            #expect(!migrator().needsMigration && migrator(trusting: [other]).needsMigration)
            #expect(migrator(trusting: [other]).migrateSessions().items.map(\.outcome) == [.imported])
            #expect(try Credential.with(id: Self.first)?.token.context.configuration.trustedIssuers == [other])
        }
    }

    private static let damaged: [String: String] = [
        "truncated": "{", "bare response": #"{"access_token":"a","token_type":"Bearer","expires_in":1}"#,
        "other client": OktaMobileJSON.version1(idToken: OktaMobileJSON.idToken(client: "other")),
        "ID token": OktaMobileJSON.version1(idToken: "x"), "access token": OktaMobileJSON.version1(access: "a b"),
        "bound": OktaMobileJSON.version1().replacing(#""tokenType":"Bearer""#, with: #""tokenType":"DPoP""#),
        "insecure": OktaMobileJSON.version1().replacing("https://", with: "http://"),
        "large": OktaMobileJSON.version1() + String(repeating: " ", count: 1 << 20),
    ]

    @Test(
        "Damaged, incomplete and foreign tokens are skipped with the reason",
        arguments: [
            ("truncated", Migration.SkipReason.Code.unreadable), ("bare response", .unreadable), ("other client", .otherClient),
            ("ID token", .invalidToken), ("access token", .invalidToken), ("bound", .boundToKey), ("insecure", .insecureIssuer),
            ("large", .tooLarge),
        ])
    func refused(name: String, code: Migration.SkipReason.Code) async throws {
        put(try #require(Self.damaged[name]), id: Self.first)
        try await fixture.run {
            let item = try #require(migrator().migrateSessions().items.first)
            #expect(item.name == Self.first && item.outcome == .skipped(Migration.SkipReason(code, "")) && Credential.allIDs.isEmpty)
        }
    }

    // MARK: - User defaults

    private func putDefaults(_ tokens: [String: String], metadata: [String: String] = [:], default id: String? = nil) throws {
        func object(_ members: [String: String]) -> Data {
            Data("{\(members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}".utf8)
        }
        let defaults = try #require(UserDefaults(suiteName: fixture.suite))
        defaults.set(object(tokens), forKey: "com.okta.authfoundation.allTokens")
        defaults.set(object(metadata), forKey: "com.okta.authfoundation.tokenMetadata")
        defaults.set(id, forKey: "com.okta.authfoundation.defaultToken")
    }

    private var defaults: UserDefaults? { UserDefaults(suiteName: fixture.suite) }

    @Test(
        "Credentials in the user defaults are imported with their tags and their default, and one that is damaged does not stop the others")
    func userDefaults() async throws {
        try putDefaults(
            [Self.first: OktaMobileJSON.version1(), Self.second: OktaMobileJSON.version2(isString: false), "damaged": #"{"x":1}"#],
            metadata: [Self.first: #"{"id":"x","tags":{"role":"work"}}"#, "leftover": "{}"], default: Self.second)
        try await fixture.run {
            let migrator = migrator()
            #expect(migrator.needsMigration)
            let report = migrator.migrateSessions()
            #expect(report.items(.imported).map(\.name).sorted() == [Self.first, Self.second])
            #expect(report.skipped.map(\.name) == ["damaged"] && report.skipped.first?.reason?.code == .unreadable)
            let credential = try Credential.loadDefault()
            #expect(credential?.id == Self.second && !migrator.needsMigration)
            #expect(try Credential.find { $0.tags["role"] == "work" }.map(\.id) == [Self.first])
            // Nothing in the defaults was synchronized, so nothing is.
            #expect(fixture.device.records(of: MigrationFixture.tokens).allSatisfy { !$0.isSynchronizable })
        }
    }

    @Test("The removal of imported credentials leaves the others in the user defaults")
    func removesDefaults() async throws {
        try putDefaults(
            [Self.first: OktaMobileJSON.version1(), "damaged": #"{"x":1.5}"#], metadata: [Self.first: "{}"], default: Self.first)
        try await fixture.run {
            let migrator = migrator()
            migrator.migrateSessions()
            #expect(defaults?.string(forKey: "com.okta.authfoundation.defaultToken") == Self.first)
            #expect(migrator.removeOriginals().items.map(\.isOriginalRemoved) == [true])
            let rest = try #require(defaults?.data(forKey: "com.okta.authfoundation.allTokens"))
            #expect(try JSON(rest) == JSON(#"{"damaged":{"x":1.5}}"#))
            #expect(defaults?.data(forKey: "com.okta.authfoundation.tokenMetadata") == nil)
            #expect(defaults?.string(forKey: "com.okta.authfoundation.defaultToken") == nil)
        }
    }

    @Test("A damaged entry of all tokens is reported by its name, and stays")
    func damagedDefaults() async throws {
        defaults?.set(Data("{".utf8), forKey: "com.okta.authfoundation.allTokens")
        try await fixture.run {
            let item = try #require(migrator().migrateSessions().items.first)
            #expect(item.name == "com.okta.authfoundation.allTokens" && item.outcome == .skipped(.unreadable))
            migrator().removeOriginals()
            #expect(defaults?.data(forKey: "com.okta.authfoundation.allTokens") == Data("{".utf8))
        }
    }

    @Test("A later credential in the user defaults, which other programs can write, does not replace the one in the Keychain")
    func forgedDefaults() async throws {
        try putDefaults([Self.first: OktaMobileJSON.version1()])
        try await fixture.run {
            #expect(migrator().migrateSessions().items.map(\.outcome) == [.imported])
            let forged = OktaMobileJSON.version1(issuedAt: #""issuedAt":921692000.25,"#, access: "forged", refresh: "forged")
            try putDefaults([Self.first: forged])
            #expect(migrator().migrateSessions().items.map { $0.reason?.code } == [.duplicate])
            #expect(try Credential.with(id: Self.first)?.token.accessToken == "access-1")
        }
    }

    @Test("An entry of more than 1,000 credentials in the user defaults is refused as a whole")
    func manyDefaults() async throws {
        try putDefaults(Dictionary(uniqueKeysWithValues: (0...1_000).map { ("\($0)", "{}") }))
        try await fixture.run {
            #expect(migrator().migrateSessions().items.map(\.name) == ["com.okta.authfoundation.allTokens"])
        }
    }

    @Test("Credentials and metadata in the user defaults that become unreadable are left as they are when an original is removed")
    func removesFromDamaged() throws {
        let damaged = Data("{".utf8)
        defer { defaults?.removePersistentDomain(forName: fixture.suite) }
        for (key, isRemoved) in [("com.okta.authfoundation.allTokens", false), ("com.okta.authfoundation.tokenMetadata", true)] {
            try putDefaults([Self.first: OktaMobileJSON.version1()], metadata: [Self.first: "{}"])
            let found = try #require(try OktaMobileSource(suite: fixture.suite).find().first)
            defaults?.set(damaged, forKey: key)
            if isRemoved { try found.remove() } else { #expect(throws: Migration.SkipReason.self) { try found.remove() } }
            #expect(defaults?.data(forKey: key) == damaged)
            #expect((defaults?.data(forKey: "com.okta.authfoundation.allTokens") == nil) == isRemoved)
        }
    }

    @Test(
        "With a storage that is not the Keychain, the notes are in the user defaults, and no run imports a session again after a sign-out")
    func otherStorage() async throws {
        try putDefaults([Self.first: OktaMobileJSON.version1()], default: Self.first)
        defer { defaults?.removePersistentDomain(forName: fixture.suite) }
        try await Credential.withStorage(MemoryTokenStorage(), session: fixture.session, clock: fixture.clock) {
            #expect(migrator().migrateSessions().items.map(\.outcome) == [.imported])
            let credential = try #require(try Credential.loadDefault())
            #expect(credential.id == Self.first && fixture.device.records(of: MigrationFixture.tokens).isEmpty)
            try credential.remove()
            #expect(!migrator().needsMigration)
            #expect(migrator().migrateSessions().items.map(\.outcome) == [.alreadyImported] && Credential.allIDs.isEmpty)
        }
    }
}
