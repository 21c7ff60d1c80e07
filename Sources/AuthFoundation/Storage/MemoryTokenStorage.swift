/// A token storage in memory, for tests, previews and programs that sign in each time.
@CredentialActor
public final class MemoryTokenStorage: PendingRevocationStorage {
    private struct Entry {
        var token: Token
        var metadata: Token.Metadata
    }

    private var entries: [String: Entry] = [:]
    private var revocations: [PendingRevocation] = []

    /// The delegate for changes, held weakly.
    public weak var delegate: (any TokenStorageDelegate)?

    /// The id of the default token, or `nil` if there is none.
    public private(set) var defaultTokenID: String?

    /// The ids of all tokens, in the order in which they were added.
    public private(set) var allIDs: [String] = []

    /// Creates an empty storage.
    public nonisolated init() {}

    /// Sets the default token.
    /// - Parameter id: The id of a stored token, or `nil` for none.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token.
    public func setDefaultTokenID(_ id: String?) throws {
        if let id, entries[id] == nil { throw TokenError.tokenNotFound(id: id) }
        guard id != defaultTokenID else { return }
        defaultTokenID = id
        delegate?.token(storage: self, defaultChanged: id)
    }

    /// Stores a new token. The first token in an empty storage becomes the default.
    /// - Parameters:
    ///   - token: The token.
    ///   - metadata: The metadata. `nil` derives it from the token.
    ///   - security: Ignored.
    /// - Throws: ``TokenError/duplicateTokenAdded`` or ``CredentialError/metadataConsistency``.
    public func add(token: Token, metadata: Token.Metadata?, security: [Credential.Security]) throws {
        if let metadata, metadata.id != token.id { throw CredentialError.metadataConsistency }
        guard entries[token.id] == nil else { throw TokenError.duplicateTokenAdded }
        let isFirst = entries.isEmpty
        entries[token.id] = Entry(token: token, metadata: metadata ?? Token.Metadata(token: token, tags: [:]))
        allIDs.append(token.id)
        delegate?.token(storage: self, added: token.id, token: token)
        if isFirst { try setDefaultTokenID(token.id) }
    }

    /// Replaces the metadata of a stored token. The metadata's id identifies the token.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token.
    public func setMetadata(_ metadata: Token.Metadata) throws {
        guard entries[metadata.id] != nil else { throw TokenError.tokenNotFound(id: metadata.id) }
        entries[metadata.id]?.metadata = metadata
    }

    /// Returns the metadata of a stored token.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token.
    public func metadata(for id: String) throws -> Token.Metadata {
        guard let entry = entries[id] else { throw TokenError.tokenNotFound(id: id) }
        return entry.metadata
    }

    /// Replaces a stored token and keeps its tags.
    /// - Parameters:
    ///   - id: The id of the stored token.
    ///   - token: The new token, with the same id.
    ///   - security: Ignored.
    /// - Throws: ``TokenError/cannotReplaceToken`` if there is no such token or the ids differ.
    public func replace(token id: String, with token: Token, security: [Credential.Security]?) throws {
        guard let tags = entries[id]?.metadata.tags, token.id == id else { throw TokenError.cannotReplaceToken }
        entries[id] = Entry(token: token, metadata: Token.Metadata(token: token, tags: tags))
        delegate?.token(storage: self, replaced: id, with: token)
    }

    /// Deletes a token and its metadata. No-op if the id is unknown. Does not throw.
    public func remove(id: String) throws {
        guard entries.removeValue(forKey: id) != nil else { return }
        allIDs.removeAll { $0 == id }
        delegate?.token(storage: self, removed: id)
        if defaultTokenID == id { try setDefaultTokenID(nil) }
    }

    /// Returns a stored token. `prompt` and `authenticationContext` are ignored.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token.
    public func get(token id: String, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?) throws -> Token {
        guard let entry = entries[id] else { throw TokenError.tokenNotFound(id: id) }
        return entry.token
    }

    /// Returns the pending revocations, oldest first. Does not throw.
    public func pendingRevocations() throws -> [PendingRevocation] { revocations }

    /// Stores a revocation until it is delivered. Does not throw.
    public func add(pendingRevocation revocation: PendingRevocation) throws {
        revocations.removeAll { $0.id == revocation.id }
        revocations.append(revocation)
    }

    /// Removes a revocation. Does not throw.
    /// - Parameter id: The id of the revoked token.
    public func removePendingRevocation(id: String) throws {
        revocations.removeAll { $0.id == id }
    }
}
