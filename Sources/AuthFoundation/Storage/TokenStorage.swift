/// A storage for tokens, their metadata and the default token. Isolated to ``CredentialActor``, so implementations need no lock.
/// Implementations may do local file work but must not wait for a task, because synchronous callers wait for them. Implementations must
/// meet these requirements:
/// - The first token added to an empty storage becomes the default.
/// - Removing the default token leaves no default.
/// - Writes are durable on return. The delegate is called after the write.
/// - An unreadable entry causes an error that names the entry. It is never treated as missing.
@CredentialActor
public protocol TokenStorage: Sendable {
    /// The delegate for changes, held weakly.
    var delegate: (any TokenStorageDelegate)? { get set }

    /// The id of the default token, or `nil` if there is none.
    var defaultTokenID: String? { get }

    /// Sets the default token.
    /// - Parameter id: The id of a stored token. `nil` clears the default and deletes nothing.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token; write errors.
    func setDefaultTokenID(_ id: String?) throws

    /// The ids of all stored tokens.
    var allIDs: [String] { get }

    /// Stores a new token.
    /// - Parameters:
    ///   - token: The token.
    ///   - metadata: The data that is readable without unlocking the token. `nil` derives it from the token.
    ///   - security: The protection of the stored token.
    /// - Throws: ``TokenError/duplicateTokenAdded`` if the id is already stored; ``CredentialError/metadataConsistency`` if the metadata
    ///   has another id; write errors.
    func add(token: Token, metadata: Token.Metadata?, security: [Credential.Security]) throws

    /// Replaces the metadata of a stored token. The metadata's id identifies the token.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token; write errors.
    func setMetadata(_ metadata: Token.Metadata) throws

    /// Returns the metadata of a stored token without unlocking the token.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token; read errors.
    func metadata(for id: String) throws -> Token.Metadata

    /// Replaces a stored token and keeps its tags.
    /// - Parameters:
    ///   - id: The id of the stored token.
    ///   - token: The new token, with the same id.
    ///   - security: The new protection, or `nil` for no change.
    /// - Throws: ``TokenError/cannotReplaceToken`` if there is no such token or the ids differ; write errors.
    func replace(token id: String, with token: Token, security: [Credential.Security]?) throws

    /// Deletes a token and its metadata. No-op if the id is unknown.
    /// - Throws: Write errors.
    func remove(id: String) throws

    /// Returns a stored token.
    /// - Parameters:
    ///   - id: The id of the token.
    ///   - prompt: The text that the user sees if the token must be unlocked.
    ///   - authenticationContext: An authentication that the user has already completed.
    /// - Throws: ``TokenError/tokenNotFound(id:)`` if there is no such token (`KeychainError` from the Keychain); read errors.
    func get(token id: String, prompt: String?, authenticationContext: (any TokenAuthenticationContext)?) throws -> Token
}

/// A delegate for changes of a token storage.
@CredentialActor
public protocol TokenStorageDelegate: AnyObject {
    /// Called after the default token changed. `nil` means that there is no default.
    func token(storage: any TokenStorage, defaultChanged id: String?)

    /// Called after a token was added.
    func token(storage: any TokenStorage, added id: String, token: Token)

    /// Called after a token was removed.
    func token(storage: any TokenStorage, removed id: String)

    /// Called after a token was replaced.
    func token(storage: any TokenStorage, replaced id: String, with newToken: Token)
}

/// A user authentication that a storage can use, such as `LAContext`.
public protocol TokenAuthenticationContext: Sendable {}

/// A token storage that several processes can share. Extends the published protocol.
@CredentialActor
package protocol SharedTokenStorage: AnyObject, TokenStorage {
    /// Called for failures in members that cannot throw.
    var onFailure: (@Sendable (any Error) -> Void)? { get set }

    /// Returns the id of the default token; `nil` for none. Throws if it cannot be read, so that it is not mistaken for a missing one.
    func readDefaultTokenID() throws -> String?

    /// Returns the ids of all stored tokens. Throws if they cannot be read, so that a locked storage is not mistaken for an empty one.
    func readAllIDs() throws -> [String]

    /// Returns a stored token, as the last process wrote it. The user is not asked again to unlock a token that this process has read.
    /// - Parameter mayAsk: Whether the system may ask the user to unlock the token. Otherwise the read of such a token throws.
    func storedToken(id: String, mayAsk: Bool) throws -> Token

    /// Reads a stored token. The system may ask the user to unlock it. Meanwhile, the actor is free.
    nonisolated func readToken(id: String, prompt: String?) async throws -> Token

    /// Whether the system asks the user, such as for biometrics, when the token is read.
    func asksUser(forToken id: String) throws -> Bool

    /// Whether the token is unchanged since this process read or wrote it, even if the process no longer keeps a copy in memory.
    func isUnchanged(id: String) throws -> Bool

    /// Removes the copy of a token that this process keeps in memory.
    func forgetToken(id: String)

    /// Takes the refresh lock of a token. Returns `nil` if another process holds it.
    nonisolated func lockForRefresh(of id: String) throws -> (any RefreshLock)?
}

extension SharedTokenStorage {
    package func storedToken(id: String) throws -> Token { try storedToken(id: id, mayAsk: true) }

    package nonisolated func readToken(id: String, prompt: String?) async throws -> Token {
        try await get(token: id, prompt: prompt, authenticationContext: nil)
    }

    package func asksUser(forToken id: String) throws -> Bool { false }

    package func isUnchanged(id: String) throws -> Bool { false }
}

/// The exclusive right to refresh a token. It ends with ``release()`` or with the process, and some kinds also after a time.
package protocol RefreshLock: Sendable {
    /// Extends the right. Returns `false` if another process has it now. The caller must then send no further request. It still stores a
    /// token that it has received, unless the storage has a later one.
    func renew() -> Bool

    func release()
}
