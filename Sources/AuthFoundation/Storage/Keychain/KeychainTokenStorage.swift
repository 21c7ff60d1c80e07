#if canImport(Security)
import Foundation
import Security

#if canImport(LocalAuthentication) && !os(tvOS)
import LocalAuthentication
#endif

/// Keeps tokens in the Keychain: one item for each token, with its metadata beside the secret, readable without unlocking it.
@CredentialActor
public final class KeychainTokenStorage: PendingRevocationStorage {
    private enum Service {
        static let tokens = "com.countersign.tokens"
        static let defaultToken = "com.countersign.default"
        static let revocations = "com.countersign.revocations"
    }

    private static let defaultAccount = "default"

    /// Who is told of changes; held weakly.
    public weak var delegate: (any TokenStorageDelegate)?

    /// A storage in the app's Keychain.
    public nonisolated init() {}

    /// The id of the default token; nil if there is none.
    public var defaultTokenID: String? {
        guard let item = try? Keychain.Search(account: Self.defaultAccount, service: Service.defaultToken).get() else { return nil }
        let id = String(decoding: item.value, as: UTF8.self)
        return allIDs.contains(id) ? id : nil
    }

    /// Chooses the default token.
    ///
    /// - Parameter id: The id of a stored token; nil forgets which one is default and deletes nothing.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``KeychainError``.
    public func setDefaultTokenID(_ id: String?) throws {
        if let id, !allIDs.contains(id) { throw TokenError.tokenNotFound(id: id) }
        guard id != defaultTokenID else { return }
        try writeDefault(id)
        delegate?.token(storage: self, defaultChanged: id)
    }

    /// The ids of all stored tokens.
    public var allIDs: [String] {
        // Without access to the Keychain there are no tokens to be had; the reading of one then throws the reason.
        (try? Keychain.Search(service: Service.tokens).list().map(\.account)) ?? []
    }

    /// Stores a new token. The first one in an empty storage becomes the default.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - metadata: What can be read without the token; made of the token if nil.
    ///   - security: How it is protected.
    /// - Throws: ``TokenError/duplicateTokenAdded``, ``CredentialError/metadataConsistency``, ``KeychainError``.
    public func add(token: Token, metadata: Token.Metadata?, security: [Credential.Security]) throws {
        if let metadata, metadata.id != token.id { throw CredentialError.metadataConsistency }
        let ids = try Keychain.Search(service: Service.tokens).list().map(\.account)
        guard !ids.contains(token.id) else { throw TokenError.duplicateTokenAdded }
        // The default first: should the process die in between, a default without its entry counts as none.
        if ids.isEmpty { try writeDefault(token.id) }
        let options = try KeychainOptions(security)
        try item(token, metadata ?? Token.Metadata(token: token, tags: [:]), options).save(authenticationContext: options.context)
        delegate?.token(storage: self, added: token.id, token: token)
        if ids.isEmpty { delegate?.token(storage: self, defaultChanged: token.id) }
    }

    /// Replaces the metadata of a stored token.
    ///
    /// - Parameter metadata: The metadata; its id names the token.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``KeychainError``.
    public func setMetadata(_ metadata: Token.Metadata) throws {
        guard let found = try entry(metadata.id) else { throw TokenError.tokenNotFound(id: metadata.id) }
        var item = try found.get()
        item.generic = try JSONEncoder().encode(metadata)
        try found.update(item)
    }

    /// The metadata of a stored token, without unlocking the token.
    ///
    /// - Parameter id: The id of the token.
    /// - Returns: The metadata.
    /// - Throws: ``TokenError/tokenNotFound(id:)``, ``KeychainError``.
    public func metadata(for id: String) throws -> Token.Metadata {
        guard let found = try entry(id) else { throw TokenError.tokenNotFound(id: id) }
        guard let data = found.generic, let metadata = try? JSONDecoder().decode(Token.Metadata.self, from: data) else {
            throw KeychainError.invalidFormat
        }
        return metadata
    }

    /// Puts a new token in the place of a stored one, and keeps its tags.
    ///
    /// - Parameters:
    ///   - id: The id of the stored token.
    ///   - token: The new token, of the same id.
    ///   - security: How it is protected from now on; nil for no change.
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

    /// Deletes a token and its metadata.
    ///
    /// - Parameter id: The id of the token. An unknown one is no error.
    /// - Throws: ``KeychainError``.
    public func remove(id: String) throws {
        guard let found = try entry(id) else { return }
        let wasDefault = defaultTokenID == id
        try found.delete()
        if wasDefault { try writeDefault(nil) }
        delegate?.token(storage: self, removed: id)
        if wasDefault { delegate?.token(storage: self, defaultChanged: nil) }
    }

    /// A stored token.
    ///
    /// - Parameters:
    ///   - id: The id of the token.
    ///   - prompt: What the person is told if they must unlock it.
    ///   - authenticationContext: An authentication that the person has already made.
    /// - Returns: The token.
    /// - Throws: ``KeychainError``.
    public func get(token id: String, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?) throws -> Token {
        let item = try Keychain.Search(account: id, service: Service.tokens)
            .get(prompt: prompt, authenticationContext: authenticationContext as? any KeychainAuthenticationContext)
        do {
            return try JSONDecoder().decode(Token.self, from: item.value)
        } catch let error as TokenFormatError {
            throw error
        } catch {
            // The decoder's own error may quote what it read.
            throw KeychainError.invalidFormat
        }
    }

    // MARK: - Sign-outs to be delivered

    /// The sign-outs still to be delivered, oldest first.
    ///
    /// - Returns: Those that can be read.
    /// - Throws: ``KeychainError``.
    public func pendingRevocations() throws -> [PendingRevocation] {
        try Keychain.Search(service: Service.revocations).list().compactMap { found in
            // One that can't be read now (a locked device) stays for the next time.
            (try? found.get()).flatMap { try? JSONDecoder().decode(PendingRevocation.self, from: $0.value) }
        }
        .sorted { $0.queuedAt < $1.queuedAt }
    }

    /// Keeps a sign-out until it is delivered.
    ///
    /// - Parameter revocation: The sign-out.
    /// - Throws: ``KeychainError``.
    public func add(pendingRevocation revocation: PendingRevocation) throws {
        try Keychain.Item(
            account: revocation.id, service: Service.revocations, accessibility: .afterFirstUnlockThisDeviceOnly,
            value: JSONEncoder().encode(revocation)
        ).save()
    }

    /// Forgets a sign-out.
    ///
    /// - Parameter id: The id of its token.
    /// - Throws: ``KeychainError``.
    public func removePendingRevocation(id: String) throws {
        try Keychain.Search(account: id, service: Service.revocations).delete()
    }

    // MARK: - Items

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

/// The options of ``Credential/Security`` as the Keychain takes them.
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
