/// What was read from the vault's files, each good as long as its file is the same.
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

    /// - Returns: nil if nothing is known; the inner nil if it is known that there is no default.
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

    /// Called with each write of our own: a file system that is quick to use an inode again could give the next version the same fingerprint.
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
