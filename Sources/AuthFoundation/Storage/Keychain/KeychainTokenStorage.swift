import Dispatch
import Foundation

/// A token storage in the Keychain, with one item per token. The metadata is readable without unlocking the token. Apps create it on Apple's
/// systems only.
///
/// An app and its extensions share the sessions whose items have an access group that all of them can use (``Credential/Security``). One of
/// them refreshes a token at a time, and the others use its result.
///
/// Before the first unlock of the device, the items cannot be read. ``allIDs`` is then empty and ``defaultTokenID`` is `nil`, and both send a
/// ``Credential/Event/storageFailed(_:)``; throwing members throw a ``KeychainError`` whose ``KeychainError/isLocked`` is true. The user is
/// still signed in.
@CredentialActor
public final class KeychainTokenStorage: PendingRevocationStorage, SharedTokenStorage {
    enum Service {
        static let tokens = "com.countersign.tokens"
        /// The second place of protected tokens. A change of such an item would ask the user to unlock it, so a new token is added in the
        /// other place before the old one is deleted. Of two, the later one counts.
        static let otherTokens = "com.countersign.tokens.other"
        static let defaultToken = "com.countersign.default"
        static let revocations = "com.countersign.revocations"
        /// The places of tokens, in the order of a search. The first place is searched again, because another process may move a token from
        /// the second place to the first one after the first search.
        static let places = [tokens, otherTokens, tokens]
        /// The items that a new installation of the app may remove.
        static let all = [tokens, otherTokens, defaultToken, revocations, KeychainRefreshLease.service]
    }

    private static let defaultAccount = "default"

    /// The delegate for changes, held weakly.
    public weak var delegate: (any TokenStorageDelegate)?

    package var onFailure: (@Sendable (any Error) -> Void)?

    nonisolated let keychain: any KeychainAccess
    private nonisolated let clock: any OAuth2Clock
    private nonisolated let randomness: Randomness
    /// The check for an earlier installation, until it succeeded.
    private var installation: InstallationCheck?
    /// The last read token of each item, so that a refresh does not ask the user to unlock it again. The token is `nil` after
    /// ``forgetToken(id:)``.
    private var known: [String: (modifiedAt: Date, token: Token?)] = [:]
    /// The last found item of each token without its value, whose protection a revocation gets.
    private var lastFound: [String: KeychainRecord] = [:]

    #if canImport(Security)
    /// Creates a storage in the app's Keychain.
    /// - Parameter earlierInstallation: The treatment of sessions that an earlier installation of the app left in the Keychain.
    public nonisolated init(earlierInstallation: EarlierInstallation = .keep) {
        keychain = SystemKeychain()
        clock = DeviceClock()
        randomness = .system
        let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        installation = Self.check(earlierInstallation, keychain, program, clock, randomness)
    }
    #endif

    package nonisolated init(
        _ keychain: any KeychainAccess, earlierInstallation: EarlierInstallation = .keep, program: String = "app",
        clock: any OAuth2Clock, randomness: Randomness = .system
    ) {
        self.keychain = keychain
        self.clock = clock
        self.randomness = randomness
        installation = Self.check(earlierInstallation, keychain, program, clock, randomness)
    }

    private nonisolated static func check(
        _ policy: EarlierInstallation, _ keychain: any KeychainAccess, _ program: String, _ clock: any OAuth2Clock, _ randomness: Randomness
    ) -> InstallationCheck? {
        guard case .remove(let marker, let accessGroups) = policy else { return nil }
        return InstallationCheck(
            keychain: keychain, marker: marker, accessGroups: accessGroups, services: Service.all, program: program, clock: clock,
            randomness: randomness)
    }

    // MARK: - Default token

    /// The id of the default token, or `nil` if there is none. If the Keychain cannot be read, the id is `nil` and a
    /// ``Credential/Event/storageFailed(_:)`` is sent.
    public var defaultTokenID: String? {
        do { return try readDefaultTokenID() } catch {
            onFailure?(error)
            return nil
        }
    }

    package func readDefaultTokenID() throws -> String? { try currentDefault()?.id }

    /// The default items, by the id of the token that each names. There is one for each access group in which a process set a default.
    private func defaults() throws -> [(id: String, item: KeychainRecord)] {
        try settleInstallation()
        return try keychain.items(KeychainQuery(service: Service.defaultToken, account: Self.defaultAccount)).compactMap { item in
            try keychain.item(item.query)?.value.map { (String(decoding: $0, as: UTF8.self), item) }
        }
    }

    /// The default: of several, the one that was set last and whose token exists. A default without its token counts as no default.
    private func currentDefault() throws -> (id: String, item: KeychainRecord)? {
        try defaults().sorted { ($0.item.modifiedAt ?? .distantPast) > ($1.item.modifiedAt ?? .distantPast) }.first {
            try entry($0.id) != nil
        }
    }

    /// Sets the default token.
    /// - Parameter id: The id of a stored token. `nil` clears the default and deletes nothing.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``KeychainError``.
    public func setDefaultTokenID(_ id: String?) throws {
        let item = try id.map { id in
            guard let item = try entry(id) else { throw TokenError.tokenNotFound(id: id) }
            return item
        }
        let current = try currentDefault()
        guard current?.id != id || (item != nil && current?.item.accessGroup != item?.accessGroup) else { return }
        try writeDefault(id, accessGroup: item?.accessGroup)
        if current?.id != id { delegate?.token(storage: self, defaultChanged: id) }
    }

    private func writeDefault(_ id: String?, accessGroup: String?) throws {
        let earlier = try keychain.items(KeychainQuery(service: Service.defaultToken, account: Self.defaultAccount))
        if let id {
            try keychain.save(
                KeychainRecord(
                    service: Service.defaultToken, account: Self.defaultAccount, accessGroup: accessGroup,
                    protection: KeychainProtection(.afterFirstUnlockThisDeviceOnly), value: Data(id.utf8)))
        }
        // Without a group, the new item is in the app's first group, whose name is not known here. The time of the change decides then.
        for item in earlier where id == nil || (accessGroup != nil && item.accessGroup != accessGroup) { try keychain.remove(item.query) }
    }

    // MARK: - Tokens

    /// The ids of all stored tokens. If the Keychain cannot be read, the list is empty and a ``Credential/Event/storageFailed(_:)`` is sent.
    public var allIDs: [String] {
        do { return try readAllIDs() } catch {
            onFailure?(error)
            return []
        }
    }

    package func readAllIDs() throws -> [String] {
        try settleInstallation()
        return Array(Set(try keychain.tokenItems().map(\.account))).sorted()
    }

    /// Stores a new token. The first token in an empty storage becomes the default.
    /// - Parameters:
    ///   - token: The token.
    ///   - metadata: The data that is readable without the token. `nil` derives it from the token.
    ///   - security: The protection of the stored token.
    /// - Throws: ``TokenError/duplicateTokenAdded``, ``CredentialError/metadataConsistency``, ``KeychainError``.
    public func add(token: Token, metadata: Token.Metadata?, security: [Credential.Security]) throws {
        try add(token: token, metadata: metadata, options: KeychainOptions(security))
    }

    package func add(token: Token, metadata: Token.Metadata?, options: KeychainOptions) throws {
        if let metadata, metadata.id != token.id { throw CredentialError.metadataConsistency }
        let ids = try readAllIDs()
        guard !ids.contains(token.id) else { throw TokenError.duplicateTokenAdded }
        // Write the default first. If the process ends before the token is written, a default whose token is missing counts as no default.
        if ids.isEmpty { try writeDefault(token.id, accessGroup: options.accessGroup) }
        var item = KeychainRecord(
            service: Service.tokens, account: token.id, accessGroup: options.accessGroup, protection: options.protection,
            generic: try JSONEncoder().encode(metadata ?? Token.Metadata(token: token, tags: [:])), value: try JSONEncoder().encode(token))
        item.isSynchronizable = options.isSynchronizable
        // Before the token, so that an extension never finds a session without its key.
        if let group = options.accessGroup { try shareDPoPKey(of: token, in: group) }
        let status = keychain.add(item, context: options.context)
        // Another process stored the token after the list was read.
        if status == KeychainStatus.duplicateItem { throw TokenError.duplicateTokenAdded }
        guard status == KeychainStatus.success else { throw KeychainError.cannotSave(code: status) }
        delegate?.token(storage: self, added: token.id, token: token)
        if ids.isEmpty { delegate?.token(storage: self, defaultChanged: token.id) }
    }

    /// Replaces the metadata of a stored token. The metadata's id identifies the token. For a token with access control, the system may ask
    /// the user to unlock it.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``KeychainError``.
    public func setMetadata(_ metadata: Token.Metadata) throws {
        let changes = KeychainChanges(generic: try JSONEncoder().encode(metadata))
        try settleInstallation()
        let isUpdated = try keychain.withTokenItem(metadata.id) { item in try update(item, changes) ? true : nil }
        if isUpdated == nil { throw TokenError.tokenNotFound(id: metadata.id) }
    }

    /// Returns the metadata of a stored token without unlocking the token.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``KeychainError``.
    public func metadata(for id: String) throws -> Token.Metadata {
        guard let found = try entry(id) else { throw TokenError.tokenNotFound(id: id) }
        return try metadata(of: found)
    }

    private func metadata(of item: KeychainRecord) throws -> Token.Metadata {
        guard let data = item.generic, let metadata = try? JSONDecoder().decode(Token.Metadata.self, from: data) else {
            throw KeychainError.invalidFormat
        }
        return metadata
    }

    /// Replaces a stored token and keeps its tags. The access group stays the same.
    /// - Parameters:
    ///   - id: The id of the stored token.
    ///   - token: The new token, with the same id.
    ///   - security: The new protection, or `nil` for no change.
    /// - Throws: ``TokenError/cannotReplaceToken`` if there is no such token or the ids differ; ``KeychainError``.
    public func replace(token id: String, with token: Token, security: [Credential.Security]?) throws {
        try replace(token: id, with: token, options: security.map(KeychainOptions.init))
    }

    package func replace(token id: String, with token: Token, options: KeychainOptions?) throws {
        guard token.id == id, let found = try entry(id) else { throw TokenError.cannotReplaceToken }
        let metadata = try JSONEncoder().encode(Token.Metadata(token: token, tags: tags(of: found)))
        let value = try JSONEncoder().encode(token)
        if let group = found.accessGroup {
            // A refresh can bind a token for the first time. A failure must not prevent the storage of the new token.
            do { try shareDPoPKey(of: token, in: group) } catch { onFailure?(error) }
        }
        if found.protection.accessControl != nil {
            var new = found
            new.service = found.service == Service.tokens ? Service.otherTokens : Service.tokens
            (new.generic, new.value, new.protection) = (metadata, value, options?.newProtection ?? found.protection)
            try keychain.remove(new.query)
            let status = keychain.add(new, context: options?.context)
            guard status == KeychainStatus.success else { throw KeychainError.cannotSave(code: status) }
            guard try keychain.remove(found.query) else {
                // Another process has removed the session meanwhile.
                try keychain.remove(new.query)
                throw TokenError.cannotReplaceToken
            }
        } else {
            let changes = KeychainChanges(generic: metadata, value: value, protection: options?.newProtection)
            guard try update(found, changes, context: options?.context) else { throw TokenError.cannotReplaceToken }
        }
        // The user has unlocked the old token to get the new one.
        known[id] = try entry(id)?.modifiedAt.map { ($0, token) }
        delegate?.token(storage: self, replaced: id, with: token)
    }

    /// Returns the tags to keep. If the metadata is damaged, the tags are lost and the error is reported, but the new token is still stored.
    private func tags(of item: KeychainRecord) -> [String: String] {
        do { return try metadata(of: item).tags } catch {
            onFailure?(error)
            return [:]
        }
    }

    /// Deletes a token and its metadata. No-op if the id is unknown.
    /// - Throws: ``KeychainError``.
    public func remove(id: String) throws {
        guard try entry(id) != nil else { return }
        let wasDefault = try readDefaultTokenID() == id
        for place in Service.places { try keychain.remove(KeychainQuery(service: place, account: id)) }
        known[id] = nil
        for (named, item) in try defaults() where named == id { try keychain.remove(item.query) }
        delegate?.token(storage: self, removed: id)
        if wasDefault { delegate?.token(storage: self, defaultChanged: nil) }
    }

    /// Returns a stored token, as the last process wrote it. The system asks the user to unlock a token with access control.
    /// - Parameters:
    ///   - id: The id of the token.
    ///   - prompt: The text that the user sees if the token must be unlocked.
    ///   - authenticationContext: An authentication that the user has already completed.
    /// - Throws: ``KeychainError``; ``TokenFormatError`` if a newer version stored the token.
    public func get(token id: String, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?) throws -> Token {
        try settleInstallation()
        let (token, modifiedAt) = try token(id, prompt: prompt, context: authenticationContext)
        known[id] = modifiedAt.map { ($0, token) }
        return token
    }

    private nonisolated func token(
        _ id: String, prompt: String?, context: (any TokenAuthenticationContext)?
    ) throws -> (Token, modifiedAt: Date?) {
        let found = try keychain.withTokenItem(id) { item in try keychain.item(item.query, prompt: prompt, context: context) }
        guard let found, let value = found.value else { throw KeychainError.notFound }
        do {
            return (try JSONDecoder().decode(Token.self, from: value), found.modifiedAt)
        } catch let error as TokenFormatError {
            throw error
        } catch {
            // Do not pass on the decoder's error, which can contain the token.
            throw KeychainError.invalidFormat
        }
    }

    /// Returns the attributes of a token's item; `nil` if the id is unknown. Throws ``KeychainError``.
    func attributes(of id: String) throws -> KeychainRecord? { try entry(id) }

    package func storedToken(id: String, mayAsk: Bool) throws -> Token {
        guard let found = try entry(id) else { throw KeychainError.notFound }
        if let known = known[id], known.modifiedAt == found.modifiedAt, let token = known.token { return token }
        return try get(token: id, prompt: nil, authenticationContext: mayAsk ? nil : NoInteraction())
    }

    package nonisolated func readToken(id: String, prompt: String?) async throws -> Token {
        // The system blocks the thread while it asks the user, so the thread must not belong to the pool for tasks.
        let (token, modifiedAt) = try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async { [self] in
                continuation.resume(with: Result { try self.token(id, prompt: prompt, context: nil) })
            }
        }
        await remember(token, modifiedAt: modifiedAt)
        return token
    }

    private func remember(_ token: Token, modifiedAt: Date?) { known[token.id] = modifiedAt.map { ($0, token) } }

    /// Tries a read, because there are access controls that do not require the user.
    package func asksUser(forToken id: String) throws -> Bool {
        guard let found = try entry(id), found.protection.accessControl != nil else { return false }
        switch keychain.read(found.query, prompt: nil, context: NoInteraction()) {
        case .success: return false
        // Another process has moved the item. After `false`, the caller verifies the user itself, which is safe.
        case .failure(let status) where status.code == KeychainStatus.itemNotFound: return false
        case .failure(let status) where [KeychainStatus.interactionNotAllowed, KeychainStatus.authFailed].contains(status.code): return true
        case .failure(let status): throw KeychainError.cannotGet(code: status.code)
        }
    }

    package func isUnchanged(id: String) throws -> Bool {
        guard let known = known[id] else { return false }
        return try entry(id)?.modifiedAt == known.modifiedAt
    }

    package func forgetToken(id: String) { known[id]?.token = nil }

    package nonisolated func lockForRefresh(of id: String) throws -> (any RefreshLock)? {
        guard let found = try keychain.tokenItems(id).first else { throw KeychainError.notFound }
        return try KeychainRefreshLease.take(id, accessGroup: found.accessGroup, in: keychain, clock: clock, randomness: randomness)
    }

    // MARK: - Pending revocations

    /// Returns the readable pending revocations, oldest first. While the device is locked, these are the ones that are readable after the
    /// first unlock.
    /// - Throws: ``KeychainError``.
    public func pendingRevocations() throws -> [PendingRevocation] {
        try settleInstallation()
        return try keychain.itemsOfThisDevice(Service.revocations).compactMap { found in
            // An unreadable revocation stays stored for a later attempt, for example if its value is damaged.
            (try? keychain.item(found.query)?.value).flatMap { try? JSONDecoder().decode(PendingRevocation.self, from: $0) }
        }
        .sorted { $0.queuedAt < $1.queuedAt }
    }

    /// Stores a revocation until it is delivered, in the access group of its token and readable under the same condition, on this device
    /// only. It requires no user authentication, because it is delivered without the user.
    /// - Throws: ``KeychainError``.
    public func add(pendingRevocation revocation: PendingRevocation) throws {
        // The token may be removed already, or unreadable while the device is locked.
        let item = (try? entry(revocation.sessionID)) ?? lastFound[revocation.sessionID]
        let accessibility = item?.protection.accessibility ?? .afterFirstUnlockThisDeviceOnly
        try keychain.save(
            KeychainRecord(
                service: Service.revocations, account: revocation.id, accessGroup: item?.accessGroup,
                protection: KeychainProtection(accessibility.onThisDeviceOnly), value: try JSONEncoder().encode(revocation)))
    }

    /// Removes a revocation.
    /// - Parameter id: The id of the revoked token.
    /// - Throws: ``KeychainError``.
    public func removePendingRevocation(id: String) throws {
        try keychain.remove(KeychainQuery(service: Service.revocations, account: id))
    }

    // MARK: - Items

    private func shareDPoPKey(of token: Token, in group: String) throws {
        guard let thumbprint = token.context.dpopThumbprint else { return }
        try keychain.shareDPoPKey(thumbprint, in: group)
    }

    private func settleInstallation() throws {
        try installation?.run()
        installation = nil
    }

    private func entry(_ id: String) throws -> KeychainRecord? {
        try settleInstallation()
        let item = try keychain.tokenItems(id).first
        if let item { lastFound[id] = item }
        return item
    }

    /// Returns `false` if there is no such item.
    private func update(
        _ item: KeychainRecord, _ changes: KeychainChanges, context: (any TokenAuthenticationContext)? = nil
    ) throws -> Bool {
        known[item.account] = nil
        switch keychain.update(item.query, changes, context: context) {
        case KeychainStatus.success: return true
        case KeychainStatus.itemNotFound: return false
        case let status: throw KeychainError.cannotUpdate(code: status)
        }
    }
}
