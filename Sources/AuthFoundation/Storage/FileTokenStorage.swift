public import Foundation

/// A token storage in an encrypted vault: a folder of files, for Linux and for command-line programs.
///
/// Each token is one file, encrypted with AES-GCM under the vault's key. Unless the app provides the key, the key is stored in the same
/// folder, readable only by the user (file mode 0600, folder mode 0700). By default, the vault therefore protects against other users and
/// against backups without the key, but not against programs of the same user.
/// - Writes are durable on return. A crash leaves either the old entry or the new one.
/// - Several processes can share a folder. Writers take a lock; readers see changes at the next access.
/// - A damaged entry, or an entry of a newer version, causes a ``VaultError`` that names the entry. Such an entry is not deleted or
///   overwritten, and the other entries stay readable. Exceptions: a refreshed token replaces its damaged entry, and a new default replaces
///   a damaged default.
///
/// All operations are local file work. Waiting for another process's lock is limited; after that, ``VaultError/Code/busy`` is thrown.
@CredentialActor
public final class FileTokenStorage: PendingRevocationStorage, SharedTokenStorage {
    private static let defaultName = VaultFileName.defaultToken

    /// The delegate for changes, held weakly.
    public weak var delegate: (any TokenStorageDelegate)?

    package var onFailure: (@Sendable (any Error) -> Void)?

    /// The folder of the vault.
    public nonisolated let directory: URL

    private nonisolated let folder: VaultFolder
    private nonisolated let keySource: VaultKeySource
    private nonisolated let lockTimeout: Duration
    private var opened: (fingerprint: VaultKeySource.Fingerprint, key: VaultKey)?
    private(set) var cache = VaultCache()

    /// The default folder: the environment variable `COUNTERSIGN_VAULT`, else `countersign/<program>/credentials` in `$XDG_DATA_HOME`, else
    /// in `~/.local/share`.
    public nonisolated static var defaultDirectory: URL { VaultLocation.current }

    /// Creates a storage. Files are read or created only on first use.
    /// - Parameters:
    ///   - directory: The folder, created with the first token. It must contain only files of this vault.
    ///   - key: The key, if the app stores it elsewhere, or `nil` for a key file in the folder, created with the first token.
    ///   - lockTimeout: The maximum time to wait for a change by another process. After that, ``VaultError/Code/busy`` is thrown.
    public nonisolated init(directory: URL = FileTokenStorage.defaultDirectory, key: VaultKey? = nil, lockTimeout: Duration = .seconds(2)) {
        self.directory = directory
        self.lockTimeout = lockTimeout
        folder = VaultFolder(path: directory.standardizedFileURL.path)
        keySource = VaultKeySource(folder: folder, given: key)
    }

    /// The id of the default token, or `nil` if there is none. If the entry is unreadable, the id is `nil` and a
    /// ``Credential/Event/storageFailed(_:)`` is sent.
    public var defaultTokenID: String? {
        do { return try readDefaultTokenID() } catch {
            onFailure?(error)
            return nil
        }
    }

    package func readDefaultTokenID() throws -> String? { try readDefault() }

    package func readAllIDs() throws -> [String] { try VaultFileName.credentialIDs(in: folder) }

    /// Sets the default token.
    /// - Parameter id: The id of a stored token. `nil` clears the default and deletes nothing.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token; ``VaultError``.
    public func setDefaultTokenID(_ id: String?) throws {
        if id == nil, !folder.exists(Self.defaultName) { return }
        let changed = try writing { key in
            if let id, !folder.exists(try VaultFileName.credential(id)) { throw TokenError.tokenNotFound(id: id) }
            guard try replaceableDefault() != id else { return false }
            try writeDefault(id, key: key)
            return true
        }
        if changed { delegate?.token(storage: self, defaultChanged: id) }
    }

    /// The ids of all stored tokens, sorted, including unreadable ones. If the folder cannot be read, the list is empty and a
    /// ``Credential/Event/storageFailed(_:)`` is sent.
    public var allIDs: [String] {
        do {
            return try readAllIDs()
        } catch {
            onFailure?(error)
            return []
        }
    }

    /// Stores a new token. The first token in an empty vault becomes the default.
    /// - Parameters:
    ///   - token: The token.
    ///   - metadata: The data that is readable without the token. `nil` derives it from the token.
    ///   - security: Ignored, because every entry is encrypted.
    /// - Throws: ``TokenError/duplicateTokenAdded``, ``CredentialError/metadataConsistency``, ``VaultError``.
    public func add(token: Token, metadata: Token.Metadata?, security: [Credential.Security]) throws {
        if let metadata, metadata.id != token.id { throw CredentialError.metadataConsistency }
        let name = try VaultFileName.credential(token.id)
        let isFirst = try writing { key in
            guard !folder.exists(name) else { throw TokenError.duplicateTokenAdded }
            let isFirst = try VaultFileName.credentialIDs(in: folder).isEmpty
            // Write the default first. If the process ends before the token is written, a default whose token is missing counts as no
            // default.
            if isFirst { try writeDefault(token.id, key: key) }
            try write(token, metadata: metadata ?? Token.Metadata(token: token, tags: [:]), key: key)
            return isFirst
        }
        delegate?.token(storage: self, added: token.id, token: token)
        if isFirst { delegate?.token(storage: self, defaultChanged: token.id) }
    }

    /// Replaces the metadata of a stored token without decrypting the token. The metadata's id identifies the token.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``VaultError``.
    public func setMetadata(_ metadata: Token.Metadata) throws {
        try writing { key in
            var record = try record(of: metadata.id)
            try record.seal(encoded(metadata), as: .metadata, with: key)
            try folder.write(record.encoded(), to: VaultFileName.credential(metadata.id))
            cache.forget(metadata.id)
        }
    }

    /// Returns the metadata of a stored token without decrypting the token.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``VaultError``.
    public func metadata(for id: String) throws -> Token.Metadata {
        let name = try VaultFileName.credential(id)
        if let known = cache.metadata(of: id, at: folder.fingerprint(of: name)) { return known }
        let (record, fingerprint) = try recordAndFingerprint(of: id)
        let metadata = try decoded(Token.Metadata.self, .metadata, of: record)
        cache.remember(metadata, of: id, at: fingerprint)
        return metadata
    }

    /// Replaces a stored token and keeps its tags.
    /// - Parameters:
    ///   - id: The id of the stored token.
    ///   - token: The new token, with the same id.
    ///   - security: Ignored.
    /// - Throws: ``TokenError/cannotReplaceToken`` if there is no such token or the ids differ; ``VaultError``.
    public func replace(token id: String, with token: Token, security: [Credential.Security]?) throws {
        guard token.id == id else { throw TokenError.cannotReplaceToken }
        let name = try VaultFileName.credential(id)
        try writing { key in
            guard folder.exists(name) else { throw TokenError.cannotReplaceToken }
            try write(token, metadata: Token.Metadata(token: token, tags: tagsForReplacement(of: id)), key: key)
        }
        delegate?.token(storage: self, replaced: id, with: token)
    }

    /// Deletes a token and its metadata, even if they are unreadable. No-op if the id is unknown.
    /// - Throws: ``VaultError``.
    public func remove(id: String) throws {
        let name = try VaultFileName.credential(id)
        guard folder.exists(name) else { return }
        let wasDefault = try locked {
            // Sign-out must work even without the key. A default whose token is missing counts as no default.
            let wasDefault = (try? readDefault()) == id
            try folder.remove(name)
            if wasDefault, let key = try? key() { try writeDefault(nil, key: key) }
            // A failure leaves only an empty file.
            try? folder.remove(VaultFileName.refreshLock(id))
            return wasDefault
        }
        cache.forget(id)
        delegate?.token(storage: self, removed: id)
        if wasDefault { delegate?.token(storage: self, defaultChanged: nil) }
    }

    /// Returns a stored token, as the last process wrote it. `prompt` and `authenticationContext` are ignored.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``VaultError``.
    public func get(token id: String, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?) throws -> Token {
        let name = try VaultFileName.credential(id)
        if let known = cache.token(of: id, at: folder.fingerprint(of: name)) { return known }
        let (record, fingerprint) = try recordAndFingerprint(of: id)
        let token = try decoded(Token.self, .token, of: record)
        cache.remember(token, of: id, at: fingerprint)
        return token
    }

    package func storedToken(id: String, mayAsk: Bool) throws -> Token { try get(token: id, prompt: nil, authenticationContext: nil) }

    package func forgetToken(id: String) { cache.forget(id) }

    package nonisolated func lockForRefresh(of id: String) throws -> (any RefreshLock)? {
        try folder.create()
        return try VaultLock.attempt(VaultFileName.refreshLock(id), in: folder)
    }

    /// Returns the pending revocations, oldest first. An unreadable revocation is skipped and a ``Credential/Event/storageFailed(_:)`` is
    /// sent.
    /// - Throws: ``VaultError`` if the folder cannot be read.
    public func pendingRevocations() throws -> [PendingRevocation] {
        try VaultFileName.revocationIDs(in: folder).compactMap { id in
            do {
                guard let (data, _) = try folder.read(VaultFileName.revocation(id)) else { return nil }
                return try decoded(PendingRevocation.self, .content, of: VaultRecord(decoding: data, kind: .revocation, id: id))
            } catch {
                onFailure?(error)
                return nil
            }
        }
        .sorted { $0.queuedAt < $1.queuedAt }
    }

    /// Stores a revocation until it is delivered, encrypted like a token.
    /// - Throws: ``VaultError``.
    public func add(pendingRevocation revocation: PendingRevocation) throws {
        try writing { key in
            var record = VaultRecord(kind: .revocation, id: revocation.id)
            try record.seal(encoded(revocation), as: .content, with: key)
            try folder.write(record.encoded(), to: VaultFileName.revocation(revocation.id))
        }
    }

    /// Removes a delivered revocation. No-op if the id is unknown.
    /// - Parameter id: The id of the revoked token.
    /// - Throws: ``VaultError``.
    public func removePendingRevocation(id: String) throws {
        let name = try VaultFileName.revocation(id)
        guard folder.exists(name) else { return }
        try writing { _ in try folder.remove(name) }
    }
}

extension FileTokenStorage {
    /// Runs a change under the lock that excludes changes by other processes.
    private func writing<T>(_ change: (VaultKey) throws -> T) throws -> T {
        try locked {
            let key = try keySource.keyMakingVault()
            opened = (VaultKeySource.Fingerprint(keySource), key)
            return try change(key)
        }
    }

    private func locked<T>(_ change: () throws -> T) throws -> T {
        try folder.locked(timeout: lockTimeout, sweeping: VaultFileName.isOurs, change)
    }

    private func key() throws -> VaultKey {
        let fingerprint = VaultKeySource.Fingerprint(keySource)
        if let opened, opened.fingerprint == fingerprint { return opened.key }
        cache = VaultCache()
        guard let key = try keySource.key() else { throw keySource.keyFileIsGone }
        opened = (fingerprint, key)
        return key
    }

    private func record(of id: String) throws -> VaultRecord {
        try recordAndFingerprint(of: id).record
    }

    private func recordAndFingerprint(of id: String) throws -> (record: VaultRecord, fingerprint: VaultFolder.Fingerprint) {
        guard let (data, fingerprint) = try folder.read(VaultFileName.credential(id)) else { throw TokenError.tokenNotFound(id: id) }
        return (try VaultRecord(decoding: data, kind: .credential, id: id), fingerprint)
    }

    private func write(_ token: Token, metadata: Token.Metadata, key: VaultKey) throws {
        var record = VaultRecord(kind: .credential, id: token.id)
        try record.seal(encoded(metadata), as: .metadata, with: key)
        try record.seal(encoded(token), as: .token, with: key)
        try folder.write(record.encoded(), to: VaultFileName.credential(token.id))
        cache.forget(token.id)
    }

    /// Returns the tags to keep. If the entry is damaged, the tags are lost and the error is reported, but the refreshed token is still
    /// stored. An entry of a newer format stays unchanged and throws.
    private func tagsForReplacement(of id: String) throws -> [String: String] {
        do {
            return try metadata(for: id).tags
        } catch let error as VaultError where error.code == .damagedEntry {
            onFailure?(error)
            return [:]
        }
    }

    private func readDefault() throws -> String? {
        guard let fingerprint = folder.fingerprint(of: Self.defaultName) else { return nil }
        let id: String?
        if let known = cache.defaultID(at: fingerprint) {
            id = known
        } else {
            guard let (data, fingerprint) = try folder.read(Self.defaultName) else { return nil }
            let record = try VaultRecord(decoding: data, kind: .defaultToken, id: Self.defaultName)
            id = try decoded(DefaultToken.self, .content, of: record).id
            cache.remember(defaultID: id, at: fingerprint)
        }
        guard let id, folder.exists(try VaultFileName.credential(id)) else { return nil }
        return id
    }

    /// Returns the id of the default before it is replaced. A damaged entry counts as no default; an entry of a newer format throws.
    private func replaceableDefault() throws -> String? {
        do { return try readDefault() } catch let error as VaultError where error.code == .damagedEntry {
            onFailure?(error)
            return nil
        }
    }

    private func writeDefault(_ id: String?, key: VaultKey) throws {
        var record = VaultRecord(kind: .defaultToken, id: Self.defaultName)
        try record.seal(encoded(DefaultToken(id: id)), as: .content, with: key)
        try folder.write(record.encoded(), to: Self.defaultName)
        cache.forgetDefault()
    }

    private struct DefaultToken: Codable {
        let id: String?
    }

    private func encoded(_ value: some Encodable) throws -> Data {
        try JSONEncoder().encode(value)
    }

    private func decoded<T: Decodable>(_ type: T.Type, _ part: VaultRecord.Part, of record: VaultRecord) throws -> T {
        let plaintext = try record.open(part, with: key())
        do {
            return try JSONDecoder().decode(type, from: plaintext)
        } catch let error as TokenFormatError {
            throw VaultError(
                .newerFormat, entry: record.id, error.debugDescription + " The entry \(record.id) is untouched.", underlying: error)
        } catch {
            // Do not pass on the decoder's error, which can contain decrypted data.
            throw VaultError(
                .damagedEntry, entry: record.id,
                "The entry \(record.id) holds no \(part.rawValue) that this version understands. It was left as it is.")
        }
    }
}
