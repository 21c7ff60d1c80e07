public import Foundation

/// Keeps tokens in an encrypted vault: a folder of files, for Linux and for command-line programs.
///
/// Each token is one file, encrypted with AES-GCM under a key of the vault. The key lies beside them, readable by the user only (0600 in
/// a folder of 0700), unless the app gives one; so by default the vault protects against other users and against backups that skip the
/// key, not against programs of the same user.
///
/// - What a method wrote is on disk when it returns; a crash leaves the old entry or the new one.
/// - Several processes may use one folder: writers take a lock, readers see each other's changes at the next access.
/// - An entry that is damaged or was written by a newer version is an error that names it (``VaultError``). It is never deleted or
///   overwritten for that reason, and the others stay readable.
///
/// All of it is local file work. A wait for another process's lock is bounded, and then throws ``VaultError/Code/busy``.
@CredentialActor
public final class FileTokenStorage: PendingRevocationStorage, SharedTokenStorage {
    private static let defaultName = VaultFileName.defaultToken

    /// Who is told of changes; held weakly.
    public weak var delegate: (any TokenStorageDelegate)?

    package var onFailure: (@Sendable (any Error) -> Void)?

    /// The folder of the vault.
    public nonisolated let directory: URL

    private nonisolated let folder: VaultFolder
    private nonisolated let keySource: VaultKeySource
    private nonisolated let lockTimeout: Duration
    private var opened: (fingerprint: VaultKeySource.Fingerprint, key: VaultKey)?
    private var cache = VaultCache()

    /// The folder used when none is named: the environment variable `COUNTERSIGN_VAULT`, else
    /// `countersign/<program>/credentials` in `$XDG_DATA_HOME`, else in `~/.local/share`.
    public nonisolated static var defaultDirectory: URL { VaultLocation.current }

    /// A vault. Nothing is read or made before the first use.
    ///
    /// - Parameters:
    ///   - directory: The folder; made with the first token. Only this vault's files belong in it.
    ///   - key: The key, if the app keeps it elsewhere; nil for a key file in the folder, made with the first token.
    ///   - lockTimeout: How long a change waits for another process's change before it throws ``VaultError/Code/busy``.
    public nonisolated init(directory: URL = FileTokenStorage.defaultDirectory, key: VaultKey? = nil, lockTimeout: Duration = .seconds(2)) {
        self.directory = directory
        self.lockTimeout = lockTimeout
        folder = VaultFolder(path: directory.standardizedFileURL.path)
        keySource = VaultKeySource(folder: folder, given: key)
    }

    // MARK: - Which is default

    /// The id of the default token; nil if there is none or if it can't be read, which becomes a ``Credential/Event/storageFailed(_:)``.
    public var defaultTokenID: String? {
        do { return try readDefault() } catch {
            onFailure?(error)
            return nil
        }
    }

    /// Chooses the default token.
    ///
    /// - Parameter id: The id of a stored token; nil forgets which one is default and deletes nothing.
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

    // MARK: - Tokens

    /// The ids of all stored tokens, sorted; also of those that can't be read.
    public var allIDs: [String] {
        do {
            return try VaultFileName.credentialIDs(in: folder)
        } catch {
            onFailure?(error)
            return []
        }
    }

    /// Stores a new token. The first one in an empty vault becomes the default.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - metadata: What can be read without the token; made of the token if nil.
    ///   - security: Not used: every entry is encrypted.
    /// - Throws: ``TokenError/duplicateTokenAdded``, ``CredentialError/metadataConsistency``, ``VaultError``.
    public func add(token: Token, metadata: Token.Metadata?, security: [Credential.Security]) throws {
        if let metadata, metadata.id != token.id { throw CredentialError.metadataConsistency }
        let name = try VaultFileName.credential(token.id)
        let isFirst = try writing { key in
            guard !folder.exists(name) else { throw TokenError.duplicateTokenAdded }
            let isFirst = try VaultFileName.credentialIDs(in: folder).isEmpty
            // The default first: should the process die in between, a default without its entry counts as none.
            if isFirst { try writeDefault(token.id, key: key) }
            try write(token, metadata: metadata ?? Token.Metadata(token: token, tags: [:]), key: key)
            return isFirst
        }
        delegate?.token(storage: self, added: token.id, token: token)
        if isFirst { delegate?.token(storage: self, defaultChanged: token.id) }
    }

    /// Replaces the metadata of a stored token, which is not decrypted for it.
    ///
    /// - Parameter metadata: The metadata; its id names the token.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``VaultError``.
    public func setMetadata(_ metadata: Token.Metadata) throws {
        try writing { key in
            var record = try record(of: metadata.id)
            try record.seal(encoded(metadata), as: .metadata, with: key)
            try folder.write(record.encoded(), to: VaultFileName.credential(metadata.id))
            cache.forget(metadata.id)
        }
    }

    /// The metadata of a stored token; the token is not decrypted.
    ///
    /// - Parameter id: The id of the token.
    /// - Returns: The metadata.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``VaultError``.
    public func metadata(for id: String) throws -> Token.Metadata {
        let name = try VaultFileName.credential(id)
        if let known = cache.metadata(of: id, at: folder.fingerprint(of: name)) { return known }
        let (record, fingerprint) = try recordAndFingerprint(of: id)
        let metadata = try decoded(Token.Metadata.self, .metadata, of: record)
        cache.remember(metadata, of: id, at: fingerprint)
        return metadata
    }

    /// Puts a new token in the place of a stored one, and keeps its tags.
    ///
    /// - Parameters:
    ///   - id: The id of the stored token.
    ///   - token: The new token, of the same id.
    ///   - security: Not used.
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

    /// Deletes a token and its metadata, also one that can't be read.
    ///
    /// - Parameter id: The id of the token. An unknown one is no error.
    /// - Throws: ``VaultError``.
    public func remove(id: String) throws {
        let name = try VaultFileName.credential(id)
        guard folder.exists(name) else { return }
        let wasDefault = try locked {
            // Also without the key: who signs out must be signed out. A default without its entry counts as none.
            let wasDefault = (try? readDefault()) == id
            try folder.remove(name)
            if wasDefault, let key = try? key() { try writeDefault(nil, key: key) }
            // No more than an empty file is left if that fails.
            try? folder.remove(VaultFileName.refreshLock(id))
            return wasDefault
        }
        cache.forget(id)
        delegate?.token(storage: self, removed: id)
        if wasDefault { delegate?.token(storage: self, defaultChanged: nil) }
    }

    /// A stored token.
    ///
    /// - Parameters:
    ///   - id: The id of the token.
    ///   - prompt: Not used.
    ///   - authenticationContext: Not used.
    /// - Returns: The token, as the last process wrote it.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``VaultError``.
    public func get(token id: String, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?) throws -> Token {
        let name = try VaultFileName.credential(id)
        if let known = cache.token(of: id, at: folder.fingerprint(of: name)) { return known }
        let (record, fingerprint) = try recordAndFingerprint(of: id)
        let token = try decoded(Token.self, .token, of: record)
        cache.remember(token, of: id, at: fingerprint)
        return token
    }

    package nonisolated func lockForRefresh(of id: String) throws -> (any RefreshLock)? {
        try folder.create()
        return try VaultLock.attempt(VaultFileName.refreshLock(id), in: folder)
    }

    // MARK: - Sign-outs to be delivered

    /// The sign-outs still to be delivered, oldest first; one that can't be read becomes a ``Credential/Event/storageFailed(_:)``.
    ///
    /// - Returns: Those that can be read.
    /// - Throws: ``VaultError`` if the folder or the key can't be read.
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

    /// Keeps a sign-out until it is delivered, encrypted as a token is.
    ///
    /// - Parameter revocation: The sign-out.
    /// - Throws: ``VaultError``.
    public func add(pendingRevocation revocation: PendingRevocation) throws {
        try writing { key in
            var record = VaultRecord(kind: .revocation, id: revocation.id)
            try record.seal(encoded(revocation), as: .content, with: key)
            try folder.write(record.encoded(), to: VaultFileName.revocation(revocation.id))
        }
    }

    /// Forgets a sign-out, because it was delivered.
    ///
    /// - Parameter id: The id of its token. An unknown one is no error.
    /// - Throws: ``VaultError``.
    public func removePendingRevocation(id: String) throws {
        let name = try VaultFileName.revocation(id)
        guard folder.exists(name) else { return }
        try writing { _ in try folder.remove(name) }
    }
}

// MARK: - Reading and writing records

extension FileTokenStorage {
    /// Runs a change while no other process makes one.
    private func writing<T>(_ change: (VaultKey) throws -> T) throws -> T {
        try locked {
            let key = try keySource.keyMakingVault()
            opened = (VaultKeySource.Fingerprint(keySource), key)
            return try change(key)
        }
    }

    private func locked<T>(_ change: () throws -> T) throws -> T {
        try folder.create()
        let lock = try VaultLock.acquire(VaultFileName.lock, in: folder, timeout: lockTimeout)
        defer { lock.release() }
        try folder.sweep(where: VaultFileName.isOurs)
        return try change()
    }

    private func key() throws -> VaultKey {
        let fingerprint = VaultKeySource.Fingerprint(keySource)
        if let opened, opened.fingerprint == fingerprint { return opened.key }
        cache = VaultCache()
        guard let key = try keySource.key() else {
            throw VaultError(
                .keyMissing, entry: VaultKeySource.keyFile,
                "The credentials in \(folder.path) are encrypted and their key file is gone. Restore it, or delete the folder and sign in again."
            )
        }
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

    /// A refreshed token must not be lost because its entry is damaged: then the tags are, and that is told. A newer entry stays.
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

    /// The default, to be written over: a damaged one counts as none, a newer one is refused.
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
                .newerFormat, entry: record.id, error.localizedDescription + " The entry \(record.id) is untouched.", underlying: error)
        } catch {
            // The decoder's own error may quote what it read.
            throw VaultError(
                .damagedEntry, entry: record.id,
                "The entry \(record.id) holds no \(part.rawValue) that this version understands. It was left as it is.")
        }
    }
}
