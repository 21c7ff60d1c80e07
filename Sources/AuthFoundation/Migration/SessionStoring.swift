import Foundation

extension SessionImport {
    /// A credential that is already stored.
    private struct Stored {
        let key: SessionKey
        /// `nil` if the token cannot be read without asking the user.
        let token: Token?
    }

    /// Imports the candidates; in a dry run, says which ones it would import.
    func importAll(_ candidates: [ImportCandidate], _ items: inout [Migration.Item]) throws {
        guard !candidates.isEmpty else { return }
        let main = try source.mainSession
        let hadDefault = try store.storedDefaultID() != nil
        var existing = try storedSessions()
        var imported: [String] = []
        let groups = grouped(candidates)
        for (winner, losers) in ordered(groups, main) {
            let result = importOne(winner, &existing)
            items.append(result)
            items += losers.map { duplicate($0, of: result.credentialID, result.outcome) }
            if result.outcome == .imported, let id = result.credentialID { imported.append(id) }
        }
        if !isDryRun, !hadDefault { try settleDefault(main, imported: imported) }
    }

    // MARK: - Duplicates

    private typealias Group = (winner: ImportCandidate, losers: [ImportCandidate])

    /// Returns the groups in the order of their import. The main session comes first, because the first one in an empty storage becomes the
    /// default. The sessions that only the app can have stored follow.
    private func ordered(_ groups: [Group], _ main: MainSession) -> [Group] {
        func rank(_ group: Group) -> Int { main == .token(id: group.winner.id) ? 0 : group.winner.found.isAuthentic ? 1 : 2 }
        return (0...2).flatMap { number in groups.filter { rank($0) == number } }
    }

    /// Groups entries of the same session. The preferred entry of each group is its winner.
    private func grouped(_ candidates: [ImportCandidate]) -> [Group] {
        var groups: [Group] = []
        for candidate in candidates {
            let index = groups.firstIndex { $0.winner.key.isSame(as: candidate.key, byUser: source.hasOneSessionPerUser) }
            if let index {
                let isPreferred = candidate.isPreferred(to: groups[index].winner)
                groups[index].losers.append(isPreferred ? groups[index].winner : candidate)
                if isPreferred { groups[index].winner = candidate }
            } else {
                groups.append((candidate, []))
            }
        }
        return groups
    }

    private func storedSessions() throws -> [Stored] {
        try store.storedIDs().map { id in
            // If the token cannot be read now, its metadata is compared.
            let token = try? storedToken(id)
            let metadata = (try? store.tokenStorage.metadata(for: id)) ?? Token.Metadata(id: id)
            return Stored(key: SessionKey(metadata, token), token: token)
        }
    }

    private func duplicate(
        _ candidate: ImportCandidate, of id: String?, _ kept: Migration.Outcome, accessToken: String? = nil
    ) -> Migration.Item {
        let reason = Migration.SkipReason(.duplicate, "The same session, or another one of the same user, is kept instead.")
        // Without a kept session, the next run decides again.
        guard let id, kept != .importable else { return item(candidate.found, .skipped(reason)) }
        let note = MigrationNote(
            version: candidate.found.version, content: candidate.content, credentialID: id,
            accessToken: MigrationHash.text(accessToken ?? candidate.session.token.accessToken))
        return skipped(candidate.found, reason, note)
    }

    // MARK: - One session

    private func importOne(_ candidate: ImportCandidate, _ existing: inout [Stored]) -> Migration.Item {
        var candidate = candidate
        do {
            if let index = existing.firstIndex(where: { $0.key.isSame(as: candidate.key, byUser: source.hasOneSessionPerUser) }) {
                let stored = existing[index]
                if let token = stored.token, token.hasSameTokens(as: candidate.session.token) {
                    // An earlier run was interrupted before it noted the import.
                    let note = note(of: candidate, as: stored.key.id)
                    if !isDryRun { try journal.write(note, for: candidate.found.place) }
                    return settled(candidate.found, note)
                }
                guard let token = stored.token, mayReplace(token, by: candidate) else {
                    return duplicate(candidate, of: stored.key.id, .alreadyImported, accessToken: stored.token?.accessToken)
                }
                candidate.session.token = try candidate.session.token.renamed(token.id)
                guard !isDryRun else { return item(candidate.found, .importable, token.id) }
                try replace(token, by: candidate)
                existing.remove(at: index)
            } else {
                if existing.contains(where: { $0.key.id == candidate.id }) {
                    // Another user's session has the id, such as the client id that okta-oidc-ios used.
                    candidate.session.token = try candidate.session.token.renamed(candidate.found.derivedID)
                }
                guard !isDryRun else { return item(candidate.found, .importable) }
                try add(candidate)
            }
            existing.append(Stored(key: candidate.key, token: candidate.session.token))
            store.announceMigration(of: candidate.session.token)
            return settled(candidate.found, note(of: candidate, as: candidate.id), .imported)
        } catch {
            return failure(error, name: candidate.found.name)
        }
    }

    private func add(_ candidate: ImportCandidate) throws {
        let token = candidate.session.token
        let metadata = Token.Metadata(token: token, tags: candidate.session.tags)
        try store.tokenStorage.add(token, metadata, candidate.found.options)
        do {
            try confirm(candidate)
        } catch {
            // Without a note, a later run would import the session again after a sign-out. The original still exists.
            try? store.tokenStorage.remove(id: token.id)
            throw error
        }
    }

    /// Replaces an earlier session of the same user, for example after the app had gone back to the other SDK for a while.
    private func replace(_ earlier: Token, by candidate: ImportCandidate) throws {
        if let keychain = store.tokenStorage as? KeychainTokenStorage {
            var options = candidate.found.options
            if let own = try keychain.attributes(of: earlier.id)?.protection.accessibility {
                options.accessibility = options.accessibility.map(own.combined) ?? own
            }
            try keychain.replace(token: earlier.id, with: candidate.session.token, options: options)
        } else {
            try store.tokenStorage.replace(token: earlier.id, with: candidate.session.token, security: nil)
        }
        do {
            try confirm(candidate)
        } catch {
            try? store.tokenStorage.replace(token: earlier.id, with: earlier, security: nil)
            throw error
        }
    }

    /// Reads the new entry back and notes the import.
    private func confirm(_ candidate: ImportCandidate) throws {
        let token = candidate.session.token
        guard try storedToken(token.id) == token else {
            throw Migration.SkipReason(.storageFailed, "The new entry differs from what was stored. The next run tries again.")
        }
        try journal.write(note(of: candidate, as: token.id), for: candidate.found.place)
    }

    private func note(of candidate: ImportCandidate, as id: String) -> MigrationNote {
        MigrationNote(
            version: candidate.found.version, content: candidate.content, credentialID: id,
            accessToken: MigrationHash.text(candidate.session.token.accessToken))
    }

    /// Whether a candidate expires later than a stored session from the same place, and can replace it without weaker protection. An
    /// archive is not signed, so a place that other programs can write never changes a stored session.
    private func mayReplace(_ stored: Token, by candidate: ImportCandidate) -> Bool {
        guard candidate.found.isAuthentic, candidate.earlierID == stored.id else { return false }
        guard let new = candidate.session.expiresAt, new > stored.expiresAt ?? .distantPast else { return false }
        guard let keychain = store.tokenStorage as? KeychainTokenStorage else { return true }
        guard let item = try? keychain.attributes(of: stored.id), item.protection.accessControl == nil else { return false }
        // The session must not become readable for more apps or on more devices.
        let group = candidate.found.options.accessGroup
        return (group == nil || group == item.accessGroup) && (!item.isSynchronizable || candidate.found.isSynchronized)
    }

    // MARK: - Default

    /// Makes the main session the default. Without one, a session that became the default only because it was stored first does not stay
    /// the default.
    private func settleDefault(_ main: MainSession, imported: [String]) throws {
        let current = try store.storedDefaultID()
        switch main {
        case .first: return
        case .token(let id) where try store.storedIDs().contains(id): try store.tokenStorage.setDefaultTokenID(id)
        case .token, .none:
            if let current, imported.contains(current) { try store.tokenStorage.setDefaultTokenID(nil) }
        }
    }
}

extension Token {
    fileprivate func hasSameTokens(as other: Token) -> Bool {
        accessToken == other.accessToken && refreshToken == other.refreshToken
    }

    fileprivate func renamed(_ id: String) throws -> Token {
        try Token(id: id, issuedAt: issuedAt, context: context, response: json, isStored: true)
    }
}

extension TokenStorage {
    /// Stores a token with the protection of its original.
    fileprivate func add(_ token: Token, _ metadata: Token.Metadata, _ options: KeychainOptions) throws {
        if let keychain = self as? KeychainTokenStorage {
            try keychain.add(token: token, metadata: metadata, options: options)
        } else {
            try add(token: token, metadata: metadata, security: options.security)
        }
    }
}

extension KeychainOptions {
    /// The options for a storage of the app.
    fileprivate var security: [Credential.Security] {
        #if canImport(Security)
        var security: [Credential.Security] = []
        if let accessibility { security.append(.accessibility(accessibility)) }
        if let accessGroup { security.append(.accessGroup(accessGroup)) }
        switch accessControl {
        case .flags(let bits): security.append(.accessControl(SecAccessControlCreateFlags(rawValue: .init(bits))))
        case .reference(let reference):
            if let control = reference.accessControl { security.append(.accessControlRef(control)) }
        case nil: break
        }
        return security
        #else
        return []
        #endif
    }
}

extension Keychain.Accessibility {
    /// Returns the weakest accessibility that is at least as strict as both.
    fileprivate func combined(_ other: Keychain.Accessibility) -> Keychain.Accessibility {
        let staysHere = !isSynchronizable || !other.isSynchronizable
        switch max(strictness, other.strictness) {
        case 2: return .whenPasswordSetThisDeviceOnly
        case 1: return staysHere ? .unlockedThisDeviceOnly : .unlocked
        default: return staysHere ? .afterFirstUnlockThisDeviceOnly : .afterFirstUnlock
        }
    }

    private var strictness: Int {
        switch self {
        case .whenPasswordSetThisDeviceOnly: 2
        case .unlocked, .unlockedThisDeviceOnly: 1
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly, .always, .alwaysThisDeviceOnly: 0
        }
    }
}
