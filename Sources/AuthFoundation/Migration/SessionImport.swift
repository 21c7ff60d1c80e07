import Foundation

/// One run of a migrator: find, decode, check, store, read back, note, and only then remove the original.
@CredentialActor
struct SessionImport {
    let source: any SessionSource
    let store: CredentialStore
    let originals: Migration.Originals
    let journal: any MigrationJournal
    /// The authentication of the user; `nil` to leave the sessions that require one.
    var context: (any TokenAuthenticationContext)?
    var isDryRun = false

    /// A hash of the settings and of the version of the rules. A skipped session is tried again after they change.
    var settings: String { MigrationHash.text((["1"] + source.settings).joined(separator: "\n")) }

    /// Runs over all sessions. One that fails does not stop the others.
    func run() -> [Migration.Item] {
        var items: [Migration.Item] = []
        do {
            let notes = try journal.notes()
            var candidates: [ImportCandidate] = []
            for found in try source.find() {
                switch inspect(found, journal.note(of: found.place, in: notes)) {
                case .settled(let item): items.append(item)
                case .candidate(let candidate): candidates.append(candidate)
                case nil: break
                }
            }
            try importAll(candidates, &items)
        } catch {
            items.append(failure(error, name: "all sessions"))
        }
        return items
    }

    /// Whether a run would change something. Reads no secret of another SDK.
    func isNeeded() throws -> Bool {
        let notes = try journal.notes()
        return try source.find().contains { found in
            guard let note = journal.note(of: found.place, in: notes), note.isAbout(found) else { return true }
            return !isSettled(note) || isDue(found, note)
        }
    }

    private func isSettled(_ note: MigrationNote) -> Bool { note.reason == nil || note.settings == settings }

    // MARK: - Reading

    /// The authentication for reads of stored credentials.
    var reading: any TokenAuthenticationContext {
        if let context { return context }
        #if canImport(LocalAuthentication) && !os(tvOS)
        if !(store.tokenStorage is KeychainTokenStorage) { return NoInteraction.systemContext }
        #endif
        return NoInteraction()
    }

    /// Reads a stored token. The storage does not keep the token of a credential that the app has locked.
    func storedToken(_ id: String) throws -> Token {
        defer {
            if store.credential(withID: id)?.isLocked == true { (store.tokenStorage as? any SharedTokenStorage)?.forgetToken(id: id) }
        }
        return try store.tokenStorage.get(token: id, prompt: nil, authenticationContext: reading)
    }

    private enum Inspection {
        case settled(Migration.Item)
        case candidate(ImportCandidate)
    }

    /// Returns the candidate or the result; `nil` if the session has disappeared.
    private func inspect(_ found: FoundSession, _ note: MigrationNote?) -> Inspection? {
        if let note, note.isAbout(found), isSettled(note) { return .settled(settled(found, note)) }
        var found = found
        do {
            var value = try read(&found)
            // Best effort: strings that were decoded from the data stay in memory until their owners are released.
            defer { value.resetBytes(in: 0..<value.count) }
            let content = MigrationHash.text(value)
            if var note, note.reason == nil, note.content == content {
                // The same session in a changed entry, for example after the restore of a backup.
                note.version = found.version
                if !isDryRun { try journal.write(note, for: found.place) }
                return .settled(settled(found, note))
            }
            let session = try source.decode(value, of: found, now: store.clock.now)
            return .candidate(ImportCandidate(found: found, session: session, content: content, earlierID: note?.credentialID))
        } catch FoundSession.ReadFailure.gone {
            return nil
        } catch FoundSession.ReadFailure.protected {
            return .settled(item(found, .protected))
        } catch let reason as Migration.SkipReason {
            return .settled(reason.underlying.map { failure($0, name: found.name) } ?? skipped(found, reason))
        } catch {
            return .settled(failure(error, name: found.name))
        }
    }

    /// Reads the data, first without asking the user, so that a read also finds out whether the original requires the user.
    private func read(_ found: inout FoundSession) throws -> Data {
        if !found.isProtected {
            switch found.read(NoInteraction()) {
            case .success(let value): return value
            case .failure(.protected): found.isProtected = true
            case .failure(let failure): throw failure
            }
        }
        guard let context else { throw FoundSession.ReadFailure.protected }
        guard let accessControl = found.accessControl else {
            throw Migration.SkipReason(
                .protectionLost, "The original requires the user's authentication, and its access control can't be read.")
        }
        (found.options.accessControl, found.options.context) = (accessControl, context)
        return try found.read(context).get()
    }

    // MARK: - Originals

    /// Removes the originals of all imported sessions.
    func removeOriginals() -> [Migration.Item] {
        do {
            // If the storage cannot be read, the originals may be the only copies of the sessions.
            _ = try store.storedIDs()
            let notes = try journal.notes()
            return try source.find().compactMap { found in
                guard let note = journal.note(of: found.place, in: notes), note.isAbout(found), note.credentialID != nil else { return nil }
                return settled(found, note, removesOriginal: found.isRemovable)
            }
        } catch {
            return [failure(error, name: "all sessions")]
        }
    }

    /// Whether the original of an imported session must be removed now. If another device imported the session, a missing credential is
    /// still on that device, so the user has not removed it. `false` if the storage cannot be read now.
    private func isDue(_ found: FoundSession, _ note: MigrationNote) -> Bool {
        guard originals != .keep, let id = note.credentialID, found.isRemovable else { return false }
        do {
            guard try store.storedIDs().contains(id) else { return try journal.isOfThisDevice(note) }
            guard originals == .removeAfterRefresh else { return true }
            return try note.accessToken != nil && MigrationHash.text(storedToken(id).accessToken) != note.accessToken
        } catch {
            return false
        }
    }

    // MARK: - Results

    /// Returns the result for a session that has a note, and removes the original if that is due.
    func settled(
        _ found: FoundSession, _ note: MigrationNote, _ outcome: Migration.Outcome = .alreadyImported, removesOriginal: Bool? = nil
    ) -> Migration.Item {
        let outcome = note.skipReason.map { .skipped($0) } ?? outcome
        guard !isDryRun, removesOriginal ?? isDue(found, note) else { return item(found, outcome, note.credentialID) }
        do {
            try found.remove()
            return item(found, outcome, note.credentialID, isRemoved: true)
        } catch {
            return Migration.Item(sdk: source.sdk, name: found.name, outcome: outcome, credentialID: note.credentialID, underlying: error)
        }
    }

    func item(_ found: FoundSession, _ outcome: Migration.Outcome, _ id: String? = nil, isRemoved: Bool = false) -> Migration.Item {
        Migration.Item(sdk: source.sdk, name: found.name, outcome: outcome, credentialID: id, isOriginalRemoved: isRemoved)
    }

    /// Stores a note that a session is skipped, so that no further migration is needed. A failure of the storage gets no note.
    func skipped(_ found: FoundSession, content: String = "", _ reason: Migration.SkipReason, _ note: MigrationNote? = nil)
        -> Migration.Item
    {
        guard !isDryRun, reason.code != .storageFailed else { return item(found, .skipped(reason)) }
        var note = note ?? MigrationNote(version: found.version, content: content)
        note.reason = MigrationNote.Reason(code: reason.code.rawValue, message: reason.message)
        note.settings = settings
        do {
            try journal.write(note, for: found.place)
            return item(found, .skipped(reason), note.credentialID)
        } catch {
            return failure(error, name: found.name)
        }
    }

    func failure(_ error: any Error, name: String) -> Migration.Item {
        let error = (error as? FoundSession.ReadFailure)?.keychainError ?? error
        if let reason = error as? Migration.SkipReason {
            return Migration.Item(sdk: source.sdk, name: name, outcome: .skipped(reason), underlying: reason)
        }
        let isLocked = (error as? KeychainError)?.isLocked == true
        return Migration.Item(
            sdk: source.sdk, name: name, outcome: isLocked ? .locked : .skipped(.storageFailed(error)), underlying: error)
    }
}
