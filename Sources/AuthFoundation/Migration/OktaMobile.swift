public import Foundation

extension Migration {
    /// The migration of the credentials that okta-mobile-swift 0.2 to 2.2 stored, in the Keychain or in the user defaults.
    ///
    /// Credentials keep their ids, their tags and their protection, and the default credential stays the default. Two credentials of the
    /// same user stay two.
    public final class OktaMobile: SessionMigrator {
        /// The stored sessions, and the steps that move them.
        public let sessions: StoredSessions

        /// Creates a migrator.
        /// - Parameters:
        ///   - suite: The suite of the user defaults in which the app stored credentials, or `nil` for the standard defaults. Apps on
        ///     Apple's systems stored in the Keychain unless they chose the defaults.
        ///   - trustedIssuers: Issuers that the ID tokens may name although the stored settings name another one. Needed for an
        ///     organization with a custom domain whose tokens name the organization's own domain. They become
        ///     ``OAuth2Client/Configuration/trustedIssuers`` of the credentials.
        ///   - originals: The time at which the old entries are removed.
        public convenience init(suite: String? = nil, trustedIssuers: Set<URL> = [], originals: Originals = .keep) {
            self.init(
                OktaMobileSource(suite: suite, trustedIssuers: trustedIssuers, keychains: DeviceKeychains.all), originals: originals)
        }

        init(_ source: OktaMobileSource, originals: Originals = .keep, notesSuite: String? = nil) {
            sessions = StoredSessions(source, originals, notesSuite: notesSuite)
        }
    }
}

/// The entries of okta-mobile-swift.
struct OktaMobileSource: SessionSource {
    private enum Names {
        static let tokens = "com.okta.authfoundation.keychain.storage"
        static let metadata = "com.okta.authfoundation.keychain.metadata"
        static let defaultToken = "com.okta.authfoundation.keychain.default"
    }

    let sdk = "okta-mobile-swift"
    var suite: String?
    var trustedIssuers: Set<URL> = []
    var keychains: [any KeychainAccess] = []

    private var defaults: OktaMobileDefaults { OktaMobileDefaults(suite: suite) }

    var settings: [String] { trustedIssuers.map(\.absoluteString).sorted() }
    var hasOneSessionPerUser: Bool { false }

    /// The default of the other SDK, or none if it had none.
    var mainSession: MainSession {
        get throws {
            for keychain in keychains {
                let query = KeychainQuery(service: "", account: Names.defaultToken)
                guard let item = try FoundSession.records(query, in: keychain).first else { continue }
                switch keychain.value(item.query, context: NoInteraction()) {
                case .success(let id): return .token(id: String(decoding: id, as: UTF8.self))
                case .failure(.gone): continue
                case .failure(let failure): throw failure.keychainError
                }
            }
            return defaults.defaultID.map { .token(id: $0) } ?? .none
        }
    }

    func find() throws -> [FoundSession] {
        // Metadata without a token is not a session. A token without metadata is one, because some versions accepted it.
        let items = try FoundSession.items(KeychainQuery(service: Names.tokens), in: keychains).map { found in
            var found = found
            let query = KeychainQuery(service: Names.metadata, account: found.name, accessGroup: found.options.accessGroup)
            found.readCompanion = { keychains.companion(query) }
            return found
        }
        return items + defaults.find()
    }

    func decode(_ value: Data, of found: FoundSession, now: Date) throws(Migration.SkipReason) -> ImportableSession {
        guard value.count <= BinaryPropertyList.maximumSize else { throw .tooLarge }
        // The decoder's error is not passed on, because it can contain the token.
        guard let stored = try? JSONDecoder().decode(OktaMobileToken.self, from: value) else { throw .unreadable }
        let token = try token(stored, found)
        let tags = try tags(of: found)
        return ImportableSession(token: token, tags: tags, expiresAt: token.expiresAt)
    }

    private func token(_ stored: OktaMobileToken, _ found: FoundSession) throws(Migration.SkipReason) -> Token {
        var configuration = stored.context.configuration
        configuration.trustedIssuers = trustedIssuers
        // The document names the endpoint that receives the refresh token, so its place must belong to the issuer.
        let origins = ([configuration.issuerURL] + trustedIssuers).map(\.origin)
        if configuration.discoveryURL.origin.map(origins.contains) != true {
            configuration.discoveryURL = OAuth2Client.Configuration.standardDiscoveryURL(of: configuration.issuerURL)
        }
        let context = Token.Context(configuration: configuration, acrValues: stored.context.acrValues)
        let token: Token
        do {
            let parsed = try Token(id: found.name, issuedAt: stored.issuedAt, context: context, response: stored.response, isStored: true)
            // Beta versions stored no time. A time that is too early only causes an early refresh.
            let issuedAt = parsed.issuedAt ?? parsed.idToken?.issuedAt ?? Date(timeIntervalSinceReferenceDate: 0)
            token = try Token(id: found.name, issuedAt: issuedAt, context: context, response: stored.response, isStored: true)
            try token.checkHeader()
        } catch {
            throw Migration.SkipReason(.invalidToken, "A token or another value of the response is malformed.")
        }
        guard Token.Kind.allCases.contains(where: { token.token(of: $0) != nil }) else { throw .incomplete("token") }
        guard token.tokenType.lowercased() != "dpop" else {
            throw Migration.SkipReason(.boundToKey, "The tokens are bound to a key of the other SDK. The user must sign in again.")
        }
        let check = IssuerCheck(idToken: token.idToken, clientId: configuration.clientId, trusted: trustedIssuers)
        _ = try check.issuer(configuration.issuerURL)
        return token
    }

    private struct Metadata: Decodable {
        let tags: [String: String]?
    }

    private func tags(of found: FoundSession) throws(Migration.SkipReason) -> [String: String] {
        switch found.readCompanion() {
        case .success(let data):
            guard let data, data.count <= BinaryPropertyList.maximumSize else { return [:] }
            return (try? JSONDecoder().decode(Metadata.self, from: data))?.tags ?? [:]
        case .failure(let failure): throw .storageFailed(failure.keychainError)
        }
    }
}

/// The entries of okta-mobile-swift in the user defaults, which it used where there was no Keychain.
struct OktaMobileDefaults: Sendable {
    private enum Keys {
        static let tokens = "com.okta.authfoundation.allTokens"
        static let metadata = "com.okta.authfoundation.tokenMetadata"
        static let defaultToken = "com.okta.authfoundation.defaultToken"
    }

    let suite: String?

    var defaultID: String? { UserDefaults(suiteName: suite)?.string(forKey: Keys.defaultToken) }

    /// The largest accepted size of an entry in bytes, and number of its credentials. Apps store a few credentials of some kilobytes.
    private static let maximumSize = 4 << 20
    private static let maximumCount = 1_000

    /// Lists the credentials. Each entry is parsed once, because it can be large.
    func find() -> [FoundSession] {
        guard let data = data(Keys.tokens) else { return [] }
        guard let tokens = Self.members(data) else {
            // The report names the whole entry.
            return [found(Keys.tokens, data, nil)]
        }
        let metadata = self.data(Keys.metadata).flatMap(Self.members) ?? [:]
        return tokens.sorted { $0.key < $1.key }.compactMap { id, token in token.text.map { found(id, $0, metadata[id]?.text) } }
    }

    private func found(_ id: String, _ value: Data, _ metadata: Data?) -> FoundSession {
        FoundSession(
            name: id, place: "defaults\n\(suite ?? "")\n\(id)", version: MigrationHash.text(value), options: .unsynchronized,
            read: { _ in .success(value) }, readCompanion: { .success(metadata) }, remove: { try remove(id) })
    }

    /// Removes a credential and leaves the others. Unreadable metadata stays as it is.
    /// - Throws: ``Migration/SkipReason`` if the entry of all credentials cannot be read; ``DefaultsFailure``.
    private func remove(_ id: String) throws {
        guard let tokens = remaining(Keys.tokens, without: id) else {
            throw Migration.SkipReason(.storageFailed, "The entry \(Keys.tokens) can't be read. It is unchanged.")
        }
        let metadata = remaining(Keys.metadata, without: id)
        try DefaultsFailure.check(suite) { defaults in
            for (key, rest) in [(Keys.tokens, tokens), (Keys.metadata, metadata)] {
                guard let rest else { continue }
                if rest.isEmpty { defaults.removeObject(forKey: key) } else { defaults.set(JSON.object(rest).text, forKey: key) }
            }
            if defaultID == id { defaults.removeObject(forKey: Keys.defaultToken) }
        }
    }

    /// The members of an entry without one of them; `nil` if the entry cannot be read.
    private func remaining(_ key: String, without id: String) -> [String: JSON]? {
        guard let data = data(key) else { return [:] }
        guard var members = Self.members(data) else { return nil }
        members[id] = nil
        return members
    }

    private func data(_ key: String) -> Data? { UserDefaults(suiteName: suite)?.data(forKey: key) }

    private static func members(_ data: Data) -> [String: JSON]? {
        guard data.count <= maximumSize, let members = try? JSON(data).objectValue, members.count <= maximumCount else { return nil }
        return members
    }
}
