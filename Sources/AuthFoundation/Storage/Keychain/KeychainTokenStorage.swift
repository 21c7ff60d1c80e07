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
    private enum Service {
        static let tokens = "com.countersign.tokens"
        /// The second place of protected tokens. A change of such an item would ask the user to unlock it, so a new token is added in the
        /// other place before the old one is deleted. Of two, the later one counts.
        static let otherTokens = "com.countersign.tokens.other"
        static let defaultToken = "com.countersign.default"
        static let revocations = "com.countersign.revocations"
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
    /// The last read token of each item, so that a refresh does not ask the user to unlock it again.
    private var known: [String: (modifiedAt: Date, token: Token)] = [:]

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
            try read(item.query)?.value.map { (String(decoding: $0, as: UTF8.self), item) }
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
        return Array(Set(try tokenItems().map(\.account))).sorted()
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
        guard let found = try entry(metadata.id) else { throw TokenError.tokenNotFound(id: metadata.id) }
        try update(found, KeychainChanges(generic: try JSONEncoder().encode(metadata)), missing: .tokenNotFound(id: metadata.id))
    }

    /// Returns the metadata of a stored token without unlocking the token.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``KeychainError``.
    public func metadata(for id: String) throws -> Token.Metadata {
        guard let found = try entry(id) else { throw TokenError.tokenNotFound(id: id) }
        guard let data = found.generic, let metadata = try? JSONDecoder().decode(Token.Metadata.self, from: data) else {
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
        let metadata = try JSONEncoder().encode(Token.Metadata(token: token, tags: try self.metadata(for: id).tags))
        let value = try JSONEncoder().encode(token)
        if let group = found.accessGroup {
            // A refresh can bind a token for the first time. A failure must not prevent that the new token is stored.
            do { try shareDPoPKey(of: token, in: group) } catch { onFailure?(error) }
        }
        if found.protection.accessControl != nil {
            var new = found
            new.service = found.service == Service.tokens ? Service.otherTokens : Service.tokens
            (new.generic, new.value, new.protection) = (metadata, value, options?.newProtection ?? found.protection)
            try keychain.remove(new.query)
            let status = keychain.add(new, context: options?.context)
            guard status == KeychainStatus.success else { throw KeychainError.cannotSave(code: status) }
            try keychain.remove(found.query)
        } else {
            let changes = KeychainChanges(generic: metadata, value: value, protection: options?.newProtection)
            try update(found, changes, context: options?.context, missing: .cannotReplaceToken)
        }
        // The user has unlocked the old token to get the new one.
        known[id] = try entry(id)?.modifiedAt.map { ($0, token) }
        delegate?.token(storage: self, replaced: id, with: token)
    }

    /// Deletes a token and its metadata. No-op if the id is unknown.
    /// - Throws: ``KeychainError``.
    public func remove(id: String) throws {
        let items = try tokenItems(id)
        guard !items.isEmpty else { return }
        let wasDefault = try readDefaultTokenID() == id
        for item in items { try keychain.remove(item.query) }
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
        guard let found = try entry(id), let item = try read(found.query, prompt: prompt, context: authenticationContext),
            let value = item.value
        else {
            throw KeychainError.notFound
        }
        do {
            let token = try JSONDecoder().decode(Token.self, from: value)
            if let modifiedAt = item.modifiedAt { known[id] = (modifiedAt, token) }
            return token
        } catch let error as TokenFormatError {
            throw error
        } catch {
            // Do not pass on the decoder's error, which can contain the token.
            throw KeychainError.invalidFormat
        }
    }

    /// Returns the attributes of a token's item; `nil` if the id is unknown. Throws ``KeychainError``.
    func attributes(of id: String) throws -> KeychainRecord? { try entry(id) }

    package func storedToken(id: String) throws -> Token {
        guard let found = try entry(id) else { throw KeychainError.notFound }
        if let known = known[id], known.modifiedAt == found.modifiedAt { return known.token }
        return try get(token: id, prompt: nil, authenticationContext: nil)
    }

    package func asksUser(forToken id: String) throws -> Bool { try entry(id)?.protection.accessControl != nil }

    package func forgetToken(id: String) { known[id] = nil }

    package nonisolated func lockForRefresh(of id: String) throws -> (any RefreshLock)? {
        guard let found = try tokenItems(id).first else { throw KeychainError.notFound }
        return try KeychainRefreshLease.take(id, accessGroup: found.accessGroup, in: keychain, clock: clock, randomness: randomness)
    }

    // MARK: - Pending revocations

    /// Returns the readable pending revocations, oldest first.
    /// - Throws: ``KeychainError``.
    public func pendingRevocations() throws -> [PendingRevocation] {
        try settleInstallation()
        return try keychain.items(KeychainQuery(service: Service.revocations)).compactMap { found in
            // An unreadable revocation stays stored for a later attempt, for example if the device is locked.
            (try? read(found.query)?.value).flatMap { try? JSONDecoder().decode(PendingRevocation.self, from: $0) }
        }
        .sorted { $0.queuedAt < $1.queuedAt }
    }

    /// Stores a revocation until it is delivered.
    /// - Throws: ``KeychainError``.
    public func add(pendingRevocation revocation: PendingRevocation) throws {
        try keychain.save(
            KeychainRecord(
                service: Service.revocations, account: revocation.id, protection: KeychainProtection(.afterFirstUnlockThisDeviceOnly),
                value: try JSONEncoder().encode(revocation)))
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
        return try tokenItems(id).first
    }

    /// The items of a token, or of all tokens, the latest first.
    private nonisolated func tokenItems(_ id: String? = nil) throws -> [KeychainRecord] {
        let items = try [Service.tokens, Service.otherTokens].flatMap { try keychain.items(KeychainQuery(service: $0, account: id)) }
        return items.sorted { ($0.modifiedAt ?? .distantPast) > ($1.modifiedAt ?? .distantPast) }
    }

    private func read(
        _ query: KeychainQuery, prompt: String? = nil, context: (any TokenAuthenticationContext)? = nil
    ) throws -> KeychainRecord? {
        switch keychain.read(query, prompt: prompt, context: context) {
        case .success(let item): return item
        case .failure(let status) where status.code == KeychainStatus.itemNotFound: return nil
        case .failure(let status): throw KeychainError.cannotGet(code: status.code)
        }
    }

    private func update(
        _ found: KeychainRecord, _ changes: KeychainChanges, context: (any TokenAuthenticationContext)? = nil, missing: TokenError
    ) throws {
        known[found.account] = nil
        switch keychain.update(found.query, changes, context: context) {
        case KeychainStatus.success: return
        case KeychainStatus.itemNotFound: throw missing
        case let status: throw KeychainError.cannotUpdate(code: status)
        }
    }
}

/// The Keychain form of the ``Credential/Security`` options.
package struct KeychainOptions: Sendable {
    package var accessibility: Keychain.Accessibility?
    package var accessControl: KeychainProtection.AccessControl?
    package var accessGroup: String?
    package var context: (any TokenAuthenticationContext)?
    /// Whether the item may be synchronized if the settings and the accessibility permit it. A migration does not synchronize an item whose
    /// original was not synchronized.
    var allowsSynchronization = true

    package init(
        accessibility: Keychain.Accessibility? = nil, accessControl: KeychainProtection.AccessControl? = nil, accessGroup: String? = nil
    ) {
        (self.accessibility, self.accessControl, self.accessGroup) = (accessibility, accessControl, accessGroup)
    }

    init(_ security: [Credential.Security]) {
        #if canImport(Security)
        for option in security {
            switch option {
            case .accessibility(let value): accessibility = value
            case .accessControl(let flags): accessControl = .flags(UInt(flags.rawValue))
            case .accessControlRef(let control): accessControl = .reference(KeychainProtection.Reference(object: control))
            case .accessGroup(let name): accessGroup = name
            #if canImport(LocalAuthentication) && !os(tvOS)
            case .context(let context): self.context = context
            #endif
            }
        }
        #endif
    }

    /// The protection for an existing item; `nil` if the options do not change it.
    var newProtection: KeychainProtection? { accessibility == nil && accessControl == nil ? nil : protection }

    /// The protection of a new item.
    var protection: KeychainProtection {
        KeychainProtection(accessibility ?? .afterFirstUnlockThisDeviceOnly, accessControl: accessControl)
    }

    var isSynchronizable: Bool { isSynchronizable(isPermitted: Credential.Security.isDefaultSynchronizable) }

    func isSynchronizable(isPermitted: Bool) -> Bool {
        isPermitted && allowsSynchronization && accessControl == nil && accessibility?.isSynchronizable == true
    }
}
