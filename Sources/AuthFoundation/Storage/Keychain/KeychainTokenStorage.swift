#if canImport(Security)
import Foundation
import Security

#if canImport(LocalAuthentication) && !os(tvOS)
import LocalAuthentication
#endif

/// A token storage in the Keychain, with one item per token. The metadata is readable without unlocking the token.
@CredentialActor
public final class KeychainTokenStorage: PendingRevocationStorage {
    private enum Service {
        static let tokens = "com.countersign.tokens"
        static let defaultToken = "com.countersign.default"
        static let revocations = "com.countersign.revocations"
    }

    private static let defaultAccount = "default"

    /// The delegate for changes, held weakly.
    public weak var delegate: (any TokenStorageDelegate)?

    /// Creates a storage in the app's Keychain.
    public nonisolated init() {}

    /// The id of the default token, or `nil` if there is none.
    public var defaultTokenID: String? {
        guard let item = try? Keychain.Search(account: Self.defaultAccount, service: Service.defaultToken).get() else { return nil }
        let id = String(decoding: item.value, as: UTF8.self)
        return allIDs.contains(id) ? id : nil
    }

    /// Sets the default token.
    /// - Parameter id: The id of a stored token. `nil` clears the default and deletes nothing.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``KeychainError``.
    public func setDefaultTokenID(_ id: String?) throws {
        if let id, !allIDs.contains(id) { throw TokenError.tokenNotFound(id: id) }
        guard id != defaultTokenID else { return }
        try writeDefault(id)
        delegate?.token(storage: self, defaultChanged: id)
    }

    /// The ids of all stored tokens.
    public var allIDs: [String] {
        // If the Keychain is not accessible, the list is empty. Reading a token then throws the reason.
        (try? Keychain.Search(service: Service.tokens).list().map(\.account)) ?? []
    }

    /// Stores a new token. The first token in an empty storage becomes the default.
    /// - Parameters:
    ///   - token: The token.
    ///   - metadata: The data that is readable without the token. `nil` derives it from the token.
    ///   - security: The protection of the stored token.
    /// - Throws: ``TokenError/duplicateTokenAdded``, ``CredentialError/metadataConsistency``, ``KeychainError``.
    public func add(token: Token, metadata: Token.Metadata?, security: [Credential.Security]) throws {
        if let metadata, metadata.id != token.id { throw CredentialError.metadataConsistency }
        let ids = try Keychain.Search(service: Service.tokens).list().map(\.account)
        guard !ids.contains(token.id) else { throw TokenError.duplicateTokenAdded }
        // Write the default first. If the process ends before the token is written, a default whose token is missing counts as no default.
        if ids.isEmpty { try writeDefault(token.id) }
        let options = try KeychainOptions(security)
        try item(token, metadata ?? Token.Metadata(token: token, tags: [:]), options).save(authenticationContext: options.context)
        delegate?.token(storage: self, added: token.id, token: token)
        if ids.isEmpty { delegate?.token(storage: self, defaultChanged: token.id) }
    }

    /// Replaces the metadata of a stored token. The metadata's id identifies the token.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``KeychainError``.
    public func setMetadata(_ metadata: Token.Metadata) throws {
        guard let found = try entry(metadata.id) else { throw TokenError.tokenNotFound(id: metadata.id) }
        var item = try found.get()
        item.generic = try JSONEncoder().encode(metadata)
        try found.update(item)
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

    /// Replaces a stored token and keeps its tags.
    /// - Parameters:
    ///   - id: The id of the stored token.
    ///   - token: The new token, with the same id.
    ///   - security: The new protection, or `nil` for no change.
    /// - Throws: ``TokenError/cannotReplaceToken`` if there is no such token or the ids differ; ``KeychainError``.
    public func replace(token id: String, with token: Token, security: [Credential.Security]?) throws {
        guard token.id == id, let found = try entry(id) else { throw TokenError.cannotReplaceToken }
        let metadata = Token.Metadata(token: token, tags: try self.metadata(for: id).tags)
        let options = try security.map(KeychainOptions.init)
        var new = try item(token, metadata, options ?? KeychainOptions([]))
        if options == nil { new.accessibility = found.accessibility }
        try found.update(new, authenticationContext: options?.context)
        delegate?.token(storage: self, replaced: id, with: token)
    }

    /// Deletes a token and its metadata. No-op if the id is unknown.
    /// - Throws: ``KeychainError``.
    public func remove(id: String) throws {
        guard let found = try entry(id) else { return }
        let wasDefault = defaultTokenID == id
        try found.delete()
        if wasDefault { try writeDefault(nil) }
        delegate?.token(storage: self, removed: id)
        if wasDefault { delegate?.token(storage: self, defaultChanged: nil) }
    }

    /// Returns a stored token.
    /// - Parameters:
    ///   - id: The id of the token.
    ///   - prompt: The text that the user sees if the token must be unlocked.
    ///   - authenticationContext: An authentication that the user has already completed.
    /// - Throws: ``KeychainError``; ``TokenFormatError`` if a newer version stored the token.
    public func get(token id: String, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?) throws -> Token {
        let item = try Keychain.Search(account: id, service: Service.tokens)
            .get(prompt: prompt, authenticationContext: authenticationContext as? any KeychainAuthenticationContext)
        do {
            return try JSONDecoder().decode(Token.self, from: item.value)
        } catch let error as TokenFormatError {
            throw error
        } catch {
            // Do not pass on the decoder's error, which can contain the token.
            throw KeychainError.invalidFormat
        }
    }

    /// Returns the readable pending revocations, oldest first.
    /// - Throws: ``KeychainError``.
    public func pendingRevocations() throws -> [PendingRevocation] {
        try Keychain.Search(service: Service.revocations).list().compactMap { found in
            // An unreadable revocation stays stored for a later attempt, for example if the device is locked.
            (try? found.get()).flatMap { try? JSONDecoder().decode(PendingRevocation.self, from: $0.value) }
        }
        .sorted { $0.queuedAt < $1.queuedAt }
    }

    /// Stores a revocation until it is delivered.
    /// - Throws: ``KeychainError``.
    public func add(pendingRevocation revocation: PendingRevocation) throws {
        try Keychain.Item(
            account: revocation.id, service: Service.revocations, accessibility: .afterFirstUnlockThisDeviceOnly,
            value: JSONEncoder().encode(revocation)
        ).save()
    }

    /// Removes a revocation.
    ///   - Parameter id: The id of the revoked token.
    /// - Throws: ``KeychainError``.
    public func removePendingRevocation(id: String) throws {
        try Keychain.Search(account: id, service: Service.revocations).delete()
    }

    private func entry(_ id: String) throws -> Keychain.Search.Result? {
        try Keychain.Search(account: id, service: Service.tokens).list().first
    }

    private func item(_ token: Token, _ metadata: Token.Metadata, _ options: KeychainOptions) throws -> Keychain.Item {
        Keychain.Item(
            account: token.id, service: Service.tokens, accessibility: options.accessControl == nil ? options.accessibility : nil,
            accessGroup: options.accessGroup, accessControl: options.accessControl, synchronizable: options.isSynchronizable,
            generic: try JSONEncoder().encode(metadata), value: try JSONEncoder().encode(token))
    }

    private func writeDefault(_ id: String?) throws {
        guard let id else { return try Keychain.Search(account: Self.defaultAccount, service: Service.defaultToken).delete() }
        try Keychain.Item(
            account: Self.defaultAccount, service: Service.defaultToken, accessibility: .afterFirstUnlockThisDeviceOnly,
            value: Data(id.utf8)
        ).save()
    }
}

/// The Keychain form of the ``Credential/Security`` options.
private struct KeychainOptions {
    var accessibility: Keychain.Accessibility?
    var accessControl: SecAccessControl?
    var accessGroup: String?
    var context: (any KeychainAuthenticationContext)?

    var isSynchronizable: Bool {
        Credential.Security.isDefaultSynchronizable && accessControl == nil && accessibility?.isSynchronizable == true
    }

    init(_ security: [Credential.Security]) throws {
        for option in security {
            if case .accessibility(let value) = option { accessibility = value }
        }
        for option in security {
            switch option {
            case .accessibility: break
            case .accessControl(let flags):
                var failure: Unmanaged<CFError>?
                let protection = (accessibility ?? .afterFirstUnlockThisDeviceOnly).attribute
                guard let control = SecAccessControlCreateWithFlags(nil, protection, flags, &failure) else {
                    let error = failure?.takeRetainedValue()
                    throw KeychainError.accessControlInvalid(
                        code: OSStatus(error.map(CFErrorGetCode) ?? Int(errSecParam)),
                        description: error.map { CFErrorCopyDescription($0) as String })
                }
                accessControl = control
            case .accessControlRef(let control): accessControl = control
            case .accessGroup(let name): accessGroup = name
            #if canImport(LocalAuthentication) && !os(tvOS)
            case .context(let context): self.context = context
            #endif
            }
        }
    }
}
#endif
