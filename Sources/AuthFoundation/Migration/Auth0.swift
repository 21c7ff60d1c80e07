public import Foundation
import JOSE

extension Migration {
    /// The migration of the session that the `CredentialsManager` of Auth0.swift 1.6 to 3.1 stored.
    ///
    /// Auth0.swift stores neither the domain nor the client id, so the app passes both: the values of its `Auth0.plist`. The tag `migrated`
    /// of the imported credential is `true`. Credentials for further APIs are not imported; the app requests them again. Tokens that are
    /// bound to a key (DPoP) are skipped, and the user signs in again.
    public final class Auth0: SessionMigrator {
        /// The stored sessions, and the steps that move them.
        public let sessions: StoredSessions

        /// The location that Auth0.swift uses unless the app chose another one.
        public static var defaultLocation: Location {
            .keychain(account: "credentials", service: Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName)
        }

        /// Creates a migrator.
        /// - Parameters:
        ///   - domain: The domain of the tenant, such as `example.eu.auth0.com`, or its issuer.
        ///   - clientId: The client id.
        ///   - redirectUri: The redirect URI of the app, for later sign-ins with the credential's client.
        ///   - logoutRedirectUri: The logout redirect URI of the app.
        ///   - location: The place of the credentials. An app that passed its own `storeKey` or storage names its account and service.
        ///   - usesBiometrics: Whether the app called `enableBiometrics`. Auth0.swift does not protect the item itself, so such a session
        ///     is imported only with an authentication of the user, and the new entry requires one for every read.
        ///   - originals: The time at which the old item is removed.
        /// - Throws: ``OAuth2Error/invalidUrl`` if the domain is no host name or URL.
        public convenience init(
            domain: String, clientId: String, redirectUri: URL? = nil, logoutRedirectUri: URL? = nil,
            location: Location = Auth0.defaultLocation, usesBiometrics: Bool = false, originals: Originals = .keep
        ) throws {
            let text = domain.contains("://") ? domain : "https://\(domain)/"
            guard let issuer = URL(string: text), issuer.host()?.isEmpty == false else { throw OAuth2Error.invalidUrl }
            let expected = SessionDraft.Expectation(
                issuer: issuer, clientId: clientId, redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri)
            let source = Auth0Source(
                location: location, expected: expected, usesBiometrics: usesBiometrics, keychains: DeviceKeychains.all)
            self.init(source, originals: originals)
        }

        init(_ source: Auth0Source, originals: Originals = .keep, notesSuite: String? = nil) {
            sessions = StoredSessions(source, originals, notesSuite: notesSuite)
        }
    }
}

/// The archive of Auth0.swift.
struct Auth0Source: SessionSource {
    /// `SecAccessControlCreateFlags.userPresence`: biometrics or the passcode.
    private static let userPresence = KeychainProtection.AccessControl.flags(1)

    let sdk = "Auth0.swift"
    let location: Migration.Location
    let expected: SessionDraft.Expectation
    var usesBiometrics = false
    var keychains: [any KeychainAccess] = []

    var settings: [String] { expected.settings }
    var mainSession: MainSession { .first }
    var hasOneSessionPerUser: Bool { true }

    func find() throws -> [FoundSession] {
        try location.find(in: keychains).map { found in
            var found = found
            if usesBiometrics, !found.isProtected {
                (found.isProtected, found.accessControl) = (true, Self.userPresence)
            }
            if case .keychain(let account, let service, let accessGroup) = location.place {
                let query = KeychainQuery(service: service, account: "\(account)_session_expiry", accessGroup: accessGroup)
                found.readCompanion = { keychains.companion(query) }
            }
            return found
        }
    }

    func decode(_ value: Data, of found: FoundSession, now: Date) throws(Migration.SkipReason) -> ImportableSession {
        if let end = try sessionEnd(found), end <= now {
            throw Migration.SkipReason(.ended, "The end time that Auth0.swift stored for the session has passed.")
        }
        let draft = try KeyedArchive.read(value) { root throws(Migration.SkipReason) in
            guard root.isOf(["A0Credentials"]) else { throw .unreadable }
            var draft = SessionDraft()
            draft.accessToken = root.string("accessToken")
            draft.tokenType = root.string("tokenType")
            draft.refreshToken = root.string("refreshToken")
            draft.idToken = root.string("idToken")
            draft.scope = root.string("scope")
            // Despite its name, the member is the expiry time.
            draft.expiresAt = root.date("expiresIn")
            return draft
        }
        return try draft.session(id: found.derivedID, now: now, expected)
    }

    /// The time at which the whole session ends, in seconds since 1970.
    private func sessionEnd(_ found: FoundSession) throws(Migration.SkipReason) -> Date? {
        switch found.readCompanion() {
        case .success(let data):
            return data.flatMap { TimeInterval(String(decoding: $0, as: UTF8.self)) }.flatMap(Date.init(numericDate:))
        case .failure(let failure): throw .storageFailed(failure.keychainError)
        }
    }
}
