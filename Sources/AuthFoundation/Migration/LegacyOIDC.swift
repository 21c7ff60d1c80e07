public import Foundation

extension Migration {
    /// The migration of sessions that okta-oidc-ios 3 (`OktaOidc`) stored, or OktaAuth 1 and 2.
    ///
    /// The id of an imported credential is the account of the Keychain item, such as the client id, and its tag `migrated` is `true`.
    public final class LegacyOIDC: SessionMigrator {
        /// The stored sessions, and the steps that move them.
        public let sessions: StoredSessions

        /// Creates a migrator.
        /// - Parameters:
        ///   - clientId: The client id whose sessions are imported. `nil` imports the sessions of every client whose id has Okta's form:
        ///     `0oa` and 17 letters or digits.
        ///   - issuer: The issuer of the sessions, or `nil` for the stored one. A session of another issuer is skipped.
        ///   - redirectUri: The redirect URI of the app, or `nil` for the stored one.
        ///   - logoutRedirectUri: The logout redirect URI of the app, or `nil` for the stored one.
        ///   - originals: The time at which the old items are removed.
        public convenience init(
            clientId: String? = nil, issuer: URL? = nil, redirectUri: URL? = nil, logoutRedirectUri: URL? = nil,
            originals: Originals = .keep
        ) {
            let expected = SessionDraft.Expectation(
                issuer: issuer, clientId: clientId, redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri)
            self.init(expected, originals: originals, keychains: DeviceKeychains.all)
        }

        init(_ expected: SessionDraft.Expectation, originals: Originals = .keep, keychains: [any KeychainAccess]) {
            sessions = StoredSessions(LegacyOIDCSource(expected: expected, keychains: keychains), originals)
        }

        /// Registers a migrator for the client of `Okta.plist`.
        /// - Throws: ``OAuth2Client/PropertyListConfigurationError`` if there is no such file, or a setting is missing or invalid.
        public static func register() throws { register(try OAuth2Client.PropertyListConfiguration()) }

        /// Registers a migrator for the client of a property list.
        /// - Parameter fileURL: The file, with the keys of `Okta.plist`.
        /// - Throws: ``OAuth2Client/PropertyListConfigurationError`` if the file cannot be read, or a setting is missing or invalid.
        public static func register(plist fileURL: URL) throws { register(try OAuth2Client.PropertyListConfiguration(plist: fileURL)) }

        /// Registers a migrator for a client.
        /// - Parameter clientId: The client id whose sessions are imported, or `nil` for every client whose id has Okta's form.
        public static func register(clientId: String? = nil) { Migration.register(migrator: LegacyOIDC(clientId: clientId)) }

        private static func register(_ settings: OAuth2Client.PropertyListConfiguration) {
            // The issuer of the settings is not compared: for a custom domain, the stored issuer can be the organization's own.
            let migrator = LegacyOIDC(
                clientId: settings.clientId, redirectUri: settings.redirectUri, logoutRedirectUri: settings.logoutRedirectUri)
            Migration.register(migrator: migrator)
        }
    }
}

/// The Keychain items of okta-oidc-ios and OktaAuth.
struct LegacyOIDCSource: SessionSource {
    let sdk = "okta-oidc-ios"
    let expected: SessionDraft.Expectation
    let keychains: [any KeychainAccess]

    /// The accounts of OktaAuth 1 and 2, and of an early version of `OktaOidc`.
    private static let fixedAccounts = ["OktaAuthStateTokenManager", "OktaAuthStateManager"]

    var settings: [String] { expected.settings }
    var mainSession: MainSession { .first }
    var hasOneSessionPerUser: Bool { true }

    func find() throws -> [FoundSession] {
        // The items have no service. Those of OktaAuth 1 were stored by another library, whose attributes are not known.
        let named = try FoundSession.items(KeychainQuery(service: ""), in: keychains).filter { isAccount($0.name) }
        let fixed = try Self.fixedAccounts.flatMap { account in
            var query = KeychainQuery(service: "", account: account)
            query.service = nil
            // An imported credential has the same account, in a service of this package.
            return try FoundSession.items(query, in: keychains).filter { !$0.service.hasPrefix("com.countersign.") }
        }
        // The latest session comes first, so that it becomes the default.
        return (named + fixed).sorted { $0.changedAt > $1.changedAt }
    }

    func decode(_ value: Data, of found: FoundSession, now: Date) throws(Migration.SkipReason) -> ImportableSession {
        try AuthStateArchive.oktaOIDC(value).session(id: found.name, now: now, expected)
    }

    // MARK: - Accounts

    /// Whether an account is that of the client. Version 3.2 used the client id. Versions 3.0 and 3.1 used the base64 form of the issuer,
    /// `_` and the client id; if it has more than 40 characters, only the first and the last 20.
    private func isAccount(_ account: String) -> Bool {
        if Self.fixedAccounts.contains(account) { return false }
        guard let clientId = expected.clientId else {
            return Self.containsOktaClient(account) || Self.decoded(account).map(Self.containsOktaClient) == true
                || Self.isShortened(account)
        }
        if account == clientId || Self.decoded(account)?.hasSuffix("_\(clientId)") == true { return true }
        // The three possible ends of the base64 form depend on the length of the issuer.
        return Self.isShortened(account) && ["", "x", "xx"].contains { account.hasSuffix(Self.base64(ofIssuer: $0, clientId)) }
    }

    private static func base64(ofIssuer issuer: String, _ clientId: String) -> Substring {
        Data("\(issuer)_\(clientId)".utf8).base64EncodedString().suffix(20)
    }

    private static func decoded(_ account: String) -> String? {
        Data(base64Encoded: account).flatMap { String(data: $0, encoding: .utf8) }
    }

    /// Whether an account has 40 characters, the first of which are the base64 form of a URL.
    private static func isShortened(_ account: String) -> Bool {
        guard account.utf8.count == 40, let start = decoded(String(account.prefix(20))) else { return false }
        return start.hasPrefix("https://") || start.hasPrefix("http://")
    }

    /// Whether a text contains exactly one client id of Okta's form.
    private static func containsOktaClient(_ text: String) -> Bool { text.matches(of: /0oa[0-9A-Za-z]{17}/).count == 1 }
}
