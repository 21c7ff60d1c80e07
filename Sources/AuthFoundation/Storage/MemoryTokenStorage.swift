/// Keeps tokens in memory: for tests and previews, and for programs that sign in anew each time.
@CredentialActor
public final class MemoryTokenStorage: PendingRevocationStorage {
    private struct Entry {
        var token: Token
        var metadata: Token.Metadata
    }

    private var entries: [String: Entry] = [:]
    private var revocations: [PendingRevocation] = []

    /// Who is told of changes; held weakly.
    public weak var delegate: (any TokenStorageDelegate)?

    /// The id of the default token; nil if there is none.
    public private(set) var defaultTokenID: String?

    /// The ids of all tokens in the order in which they were added.
    public private(set) var allIDs: [String] = []

    /// An empty storage.
    public nonisolated init() {}

    /// Chooses the default token.
    ///
    /// - Parameter id: The id of a stored token, or nil for none.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token.
    public func setDefaultTokenID(_ id: String?) throws {
        if let id, entries[id] == nil { throw TokenError.tokenNotFound(id: id) }
        guard id != defaultTokenID else { return }
        defaultTokenID = id
        delegate?.token(storage: self, defaultChanged: id)
    }

    /// Stores a new token.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - metadata: Its metadata; made of the token if nil.
    ///   - security: Not used.
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

    /// Replaces the metadata of a stored token.
    ///
    /// - Parameter metadata: The metadata; its id names the token.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token.
    public func setMetadata(_ metadata: Token.Metadata) throws {
        guard entries[metadata.id] != nil else { throw TokenError.tokenNotFound(id: metadata.id) }
        entries[metadata.id]?.metadata = metadata
    }

    /// The metadata of a stored token.
    ///
    /// - Parameter id: The id of the token.
    /// - Returns: The metadata.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token.
    public func metadata(for id: String) throws -> Token.Metadata {
        guard let entry = entries[id] else { throw TokenError.tokenNotFound(id: id) }
        return entry.metadata
    }

    /// Puts a new token in the place of a stored one, and keeps its tags.
    ///
    /// - Parameters:
    ///   - id: The id of the stored token.
    ///   - token: The new token, of the same id.
    ///   - security: Not used.
    /// - Throws: ``TokenError/cannotReplaceToken`` if there is no such token or the ids differ.
    public func replace(token id: String, with token: Token, security: [Credential.Security]?) throws {
        guard let tags = entries[id]?.metadata.tags, token.id == id else { throw TokenError.cannotReplaceToken }
        entries[id] = Entry(token: token, metadata: Token.Metadata(token: token, tags: tags))
        delegate?.token(storage: self, replaced: id, with: token)
    }

    /// Deletes a token and its metadata.
    ///
    /// - Parameter id: The id of the token. An unknown one is no error.
    /// - Throws: Nothing.
    public func remove(id: String) throws {
        guard entries.removeValue(forKey: id) != nil else { return }
        allIDs.removeAll { $0 == id }
        delegate?.token(storage: self, removed: id)
        if defaultTokenID == id { try setDefaultTokenID(nil) }
    }

    /// A stored token.
    ///
    /// - Parameters:
    ///   - id: The id of the token.
    ///   - prompt: Not used.
    ///   - authenticationContext: Not used.
    /// - Returns: The token.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token.
    public func get(token id: String, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?) throws -> Token {
        guard let entry = entries[id] else { throw TokenError.tokenNotFound(id: id) }
        return entry.token
    }

    /// The sign-outs still to be delivered, oldest first.
    ///
    /// - Returns: All of them.
    /// - Throws: Nothing.
    public func pendingRevocations() throws -> [PendingRevocation] { revocations }

    /// Keeps a sign-out until it is delivered.
    ///
    /// - Parameter revocation: The sign-out.
    /// - Throws: Nothing.
    public func add(pendingRevocation revocation: PendingRevocation) throws {
        revocations.removeAll { $0.id == revocation.id }
        revocations.append(revocation)
    }

    /// Forgets a sign-out.
    ///
    /// - Parameter id: The id of its token.
    /// - Throws: Nothing.
    public func removePendingRevocation(id: String) throws {
        revocations.removeAll { $0.id == id }
    }
}
