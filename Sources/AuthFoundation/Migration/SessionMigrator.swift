/// A migrator for the sessions that another SDK stored on the device.
public protocol SessionMigrator: SDKVersionMigrator, Sendable {
    /// The stored sessions, and the steps that move them.
    var sessions: Migration.StoredSessions { get }
}

extension SessionMigrator {
    /// Whether a run would import a session, try a skipped one again, or remove an original. Also `true` if the device is locked, because
    /// then the stored sessions are unknown. The check lists names only and reads no secret.
    ///
    /// Stays `true` until sessions that require the user's authentication are imported; see ``migrateSessions(authenticationContext:)``.
    public var needsMigration: Bool { sessions.isMigrationNeeded }

    /// Imports the sessions that do not require the user's authentication. A skipped session is not an error;
    /// ``migrateSessions(authenticationContext:)`` reports them.
    /// - Throws: ``KeychainError`` if the device is locked, and errors of the storage, after all other sessions were imported. The next run
    ///   tries again.
    public func migrate() throws {
        if let failure = migrateSessions().failure { throw failure }
    }

    /// Reads and checks the sessions, but stores nothing, removes nothing and shows no prompt.
    /// - Returns: The result for each session that a migration would have.
    public func dryRun() -> Migration.Report { sessions.run(isDryRun: true, context: nil) }

    /// Imports the sessions.
    ///
    /// The new entry has the protection of the original: its accessibility, access group and access control. It is synchronized only if the
    /// original was. Of several originals of one user, issuer and client, only one is imported: one from the app's Keychain rather than
    /// from a place that other programs can write (user defaults, data, the file-based Keychain of macOS), otherwise the one that expires
    /// later.
    ///
    /// A session replaces a credential only if it expires later, is in the app's Keychain, and an earlier run found a session for this
    /// credential in the same place. This happens if the app went back to the other SDK for a while.
    ///
    /// If there is no default credential, the imported session becomes the default, as after a sign-in.
    /// `Notification.Name.credentialMigrated` is posted for each imported session.
    /// - Parameter authenticationContext: The user's authentication for sessions that require it, such as an `LAContext`; `nil` leaves these
    ///   sessions for a later call and shows no prompt.
    /// - Returns: The result for each session, without secrets. One that fails does not stop the others.
    @discardableResult
    public func migrateSessions(authenticationContext: (any TokenAuthenticationContext)? = nil) -> Migration.Report {
        sessions.run(isDryRun: false, context: authenticationContext)
    }

    /// Removes what the other SDK stored, for all sessions that a run has imported, or has skipped as duplicates. Afterwards, the app
    /// cannot go back to the other SDK without a sign-in.
    ///
    /// Items that iCloud Keychain synchronizes stay, because their removal would sign the user out of older versions of the app on other
    /// devices. So do archives that the app passed as data.
    /// - Returns: The result for each session that was imported. Nothing is removed if the token storage cannot be read.
    @discardableResult
    public func removeOriginals() -> Migration.Report { sessions.removeOriginals() }
}

extension Migration {
    /// The sessions that another SDK stored, and the steps that move them to the token storage of ``Credential``. Migrators make it; see
    /// ``SessionMigrator``.
    public struct StoredSessions: Sendable {
        let source: any SessionSource
        private let originals: Originals
        private let notesSuite: String?

        /// - Parameter notesSuite: The suite of the user defaults for notes, if the sessions are not stored in the Keychain.
        init(_ source: any SessionSource, _ originals: Originals, notesSuite: String? = nil) {
            (self.source, self.originals, self.notesSuite) = (source, originals, notesSuite)
        }

        var isMigrationNeeded: Bool {
            let store = Credential.store
            return CredentialActor.synchronously {
                // If the device is locked, there may be sessions.
                (try? sessionImport(store, changesNothing: true).isNeeded()) ?? true
            }
        }

        func run(isDryRun: Bool, context: (any TokenAuthenticationContext)?) -> Report {
            let store = Credential.store
            return CredentialActor.synchronously {
                var run = sessionImport(store, changesNothing: isDryRun)
                (run.isDryRun, run.context) = (isDryRun, context)
                return Report(items: run.run())
            }
        }

        func removeOriginals() -> Report {
            let store = Credential.store
            return CredentialActor.synchronously { Report(items: sessionImport(store).removeOriginals()) }
        }

        /// - Parameter changesNothing: Whether to omit the check for an ``EarlierInstallation``, which can remove credentials.
        @CredentialActor
        private func sessionImport(_ store: CredentialStore, changesNothing: Bool = false) -> SessionImport {
            var store = store
            let keychain = (store.tokenStorage as? KeychainTokenStorage)?.keychain
            if changesNothing, let keychain {
                let storage = KeychainTokenStorage(keychain, clock: store.clock)
                store = CredentialStore(tokenStorage: storage, clock: store.clock)
            }
            let journal: any MigrationJournal =
                keychain.map { KeychainJournal(keychain: $0) } ?? DefaultsJournal(suite: notesSuite)
            return SessionImport(source: source, store: store, originals: originals, journal: journal)
        }
    }
}
