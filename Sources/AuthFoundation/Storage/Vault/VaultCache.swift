/// A cache of decrypted vault files. An entry is valid as long as the fingerprint of its file is unchanged.
struct VaultCache {
    private struct Entry {
        let fingerprint: VaultFolder.Fingerprint
        var token: Token?
        var metadata: Token.Metadata?
    }

    private var entries: [String: Entry] = [:]
    private var defaultEntry: (fingerprint: VaultFolder.Fingerprint, id: String?)?

    func token(of id: String, at fingerprint: VaultFolder.Fingerprint?) -> Token? {
        entry(of: id, at: fingerprint)?.token
    }

    func metadata(of id: String, at fingerprint: VaultFolder.Fingerprint?) -> Token.Metadata? {
        entry(of: id, at: fingerprint)?.metadata
    }

    /// Returns `nil` if the default is not cached, and `.some(nil)` if the cache knows that there is no default.
    func defaultID(at fingerprint: VaultFolder.Fingerprint) -> String?? {
        guard let defaultEntry, defaultEntry.fingerprint == fingerprint else { return nil }
        return .some(defaultEntry.id)
    }

    mutating func remember(_ token: Token, of id: String, at fingerprint: VaultFolder.Fingerprint) {
        var entry = entry(of: id, at: fingerprint) ?? Entry(fingerprint: fingerprint)
        entry.token = token
        entries[id] = entry
    }

    mutating func remember(_ metadata: Token.Metadata, of id: String, at fingerprint: VaultFolder.Fingerprint) {
        var entry = entry(of: id, at: fingerprint) ?? Entry(fingerprint: fingerprint)
        entry.metadata = metadata
        entries[id] = entry
    }

    mutating func remember(defaultID id: String?, at fingerprint: VaultFolder.Fingerprint) {
        defaultEntry = (fingerprint, id)
    }

    /// Removes an entry. Called after each write of this process, because a file system that reuses inodes quickly could give the new file
    /// the same fingerprint.
    mutating func forget(_ id: String) {
        entries[id] = nil
    }

    mutating func forgetDefault() {
        defaultEntry = nil
    }

    private func entry(of id: String, at fingerprint: VaultFolder.Fingerprint?) -> Entry? {
        guard let fingerprint, let entry = entries[id], entry.fingerprint == fingerprint else { return nil }
        return entry
    }
}
