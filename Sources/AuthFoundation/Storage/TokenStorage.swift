/// Keeps tokens, their metadata, and which of them is the default one.
///
/// Isolated to ``CredentialActor``, so that an implementation needs no lock of its own. It may do local file work, but must not wait for a
/// task, since synchronous code waits for it.
///
/// An implementation keeps these promises, which the conformance suite checks:
/// - The first token added to an empty storage becomes the default one.
/// - Removing the default token leaves no default.
/// - What a method wrote is durable when it returns, and the delegate is told afterwards.
/// - An entry that can't be read is an error that names it, never a missing entry.
@CredentialActor
public protocol TokenStorage: Sendable {
    /// Who is told of changes; held weakly.
    var delegate: (any TokenStorageDelegate)? { get set }

    /// The id of the default token; nil if there is none.
    var defaultTokenID: String? { get }

    /// Chooses the default token.
    ///
    /// - Parameter id: The id of a stored token; nil forgets which one is default and deletes nothing.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token; errors of writing.
    func setDefaultTokenID(_ id: String?) throws

    /// The ids of all stored tokens.
    var allIDs: [String] { get }

    /// Stores a new token.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - metadata: What can be read without unlocking the token; made of the token if nil.
    ///   - security: How it is protected.
    /// - Throws: ``TokenError/duplicateTokenAdded`` if the id is stored already; ``CredentialError/metadataConsistency`` if the
    ///   metadata has another id; errors of writing.
    func add(token: Token, metadata: Token.Metadata?, security: [Credential.Security]) throws

    /// Replaces the metadata of a stored token.
    ///
    /// - Parameter metadata: The metadata; its id names the token.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token; errors of writing.
    func setMetadata(_ metadata: Token.Metadata) throws

    /// The metadata of a stored token, without unlocking the token.
    ///
    /// - Parameter id: The id of the token.
    /// - Returns: The metadata.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token; errors of reading.
    func metadata(for id: String) throws -> Token.Metadata

    /// Puts a new token in the place of a stored one, and keeps its tags.
    ///
    /// - Parameters:
    ///   - id: The id of the stored token.
    ///   - token: The new token, of the same id.
    ///   - security: How it is protected from now on; nil for no change.
    /// - Throws: ``TokenError/cannotReplaceToken`` if there is no such token or the ids differ; errors of writing.
    func replace(token id: String, with token: Token, security: [Credential.Security]?) throws

    /// Deletes a token and its metadata.
    ///
    /// - Parameter id: The id of the token. An unknown one is no error.
    /// - Throws: Errors of writing.
    func remove(id: String) throws

    /// A stored token.
    ///
    /// - Parameters:
    ///   - id: The id of the token.
    ///   - prompt: What a person is told if they must unlock it.
    ///   - authenticationContext: An authentication that the person has already made.
    /// - Returns: The token.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token (`KeychainError` from the Keychain); errors of reading.
    func get(token id: String, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?) throws -> Token
}

/// Is told what changes in a storage.
@CredentialActor
public protocol TokenStorageDelegate: AnyObject {
    /// Another token, or none, is the default one.
    ///
    /// - Parameters:
    ///   - storage: Where.
    ///   - id: The id of the token.
    func token(storage: any TokenStorage, defaultChanged id: String?)

    /// A token was added.
    ///
    /// - Parameters:
    ///   - storage: Where.
    ///   - id: The id of the token.
    ///   - token: The token.
    func token(storage: any TokenStorage, added id: String, token: Token)

    /// A token was removed.
    ///
    /// - Parameters:
    ///   - storage: Where.
    ///   - id: The id of the token.
    func token(storage: any TokenStorage, removed id: String)

    /// A token was replaced.
    ///
    /// - Parameters:
    ///   - storage: Where.
    ///   - id: The id of the token.
    ///   - newToken: The new token.
    func token(storage: any TokenStorage, replaced id: String, with newToken: Token)
}

/// An authentication of the person that a storage can use; `LAContext` is one.
public protocol TokenAuthenticationContext: Sendable {}
