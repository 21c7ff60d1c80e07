public import Foundation

extension Migration {
    /// The migration of a session that an app archived with AppAuth 1 or 2: an `OIDAuthState`, or an object of the app that has one as a
    /// member.
    ///
    /// The issuer must have a discovery document. The tag `migrated` of the imported credential is `true`.
    public final class AppAuth: SessionMigrator {
        /// The stored sessions, and the steps that move them.
        public let sessions: StoredSessions

        /// Creates a migrator.
        /// - Parameters:
        ///   - location: The place where the app stored the archive.
        ///   - issuer: The issuer of the session. `nil` takes the stored one; an app whose endpoints were set by hand, and that has no ID
        ///     token, must name it. A session of another issuer is skipped.
        ///   - clientId: The client id, or `nil` for the stored one. A session of another client is skipped.
        ///   - redirectUri: The redirect URI of the app, or `nil` for the stored one.
        ///   - logoutRedirectUri: The logout redirect URI of the app.
        ///   - importsClientSecret: Whether a stored client secret is imported. An app on a user's device should have none.
        ///   - originals: The time at which the archive is removed. An archive that the app passed as data is never removed.
        public convenience init(
            _ location: Location, issuer: URL? = nil, clientId: String? = nil, redirectUri: URL? = nil, logoutRedirectUri: URL? = nil,
            importsClientSecret: Bool = false, originals: Originals = .keep
        ) {
            let expected = SessionDraft.Expectation(
                issuer: issuer, clientId: clientId, redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri,
                importsClientSecret: importsClientSecret)
            self.init(AppAuthSource(location: location, expected: expected, keychains: DeviceKeychains.all), originals: originals)
        }

        init(_ source: AppAuthSource, originals: Originals = .keep, notesSuite: String? = nil) {
            sessions = StoredSessions(source, originals, notesSuite: notesSuite)
        }
    }
}

/// An archive of AppAuth.
struct AppAuthSource: SessionSource {
    let sdk = "AppAuth"
    let location: Migration.Location
    let expected: SessionDraft.Expectation
    var keychains: [any KeychainAccess] = []

    var settings: [String] { expected.settings }
    var mainSession: MainSession { .first }
    var hasOneSessionPerUser: Bool { true }

    func find() throws -> [FoundSession] { try location.find(in: keychains) }

    func decode(_ value: Data, of found: FoundSession, now: Date) throws(Migration.SkipReason) -> ImportableSession {
        try AuthStateArchive.appAuth(value).session(id: found.derivedID, now: now, expected)
    }
}
