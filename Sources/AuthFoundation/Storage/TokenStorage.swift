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

/// Moves what an older version of the app or of this package stored to where it is kept now.
///
/// Formats of this package's own storages need no migration: they are read as they are, for good. Apps register what else is to be moved.
public final class Migration: Sendable {
    private static let migrators = Locked<[any SDKVersionMigrator]>([])

    private init() {}

    /// Whether a registered migrator has something to move.
    public static var isMigrationNeeded: Bool {
        migrators.withLock { $0 }.contains { $0.needsMigration }
    }

    /// Runs the registered migrators that have something to move, in the order of their registration.
    ///
    /// - Throws: What a migrator throws; those after it are not run, and what it left is tried again by the next call.
    public static func migrateIfNeeded() throws {
        for migrator in migrators.withLock({ $0 }) where migrator.needsMigration { try migrator.migrate() }
    }

    /// Adds a migrator.
    ///
    /// - Parameter migrator: Moves something.
    public static func register(migrator: any SDKVersionMigrator) {
        migrators.withLock { $0.append(migrator) }
    }
}

/// Moves something that an older version stored.
public protocol SDKVersionMigrator: Sendable {
    /// Whether there is something to move.
    var needsMigration: Bool { get }

    /// Moves the entries. An interruption at any point loses nothing: the next call continues.
    ///
    /// - Throws: What went wrong; nothing is lost then.
    func migrate() throws
}

/// What a storage offers beyond the published contract when other processes use it too.
@CredentialActor
package protocol SharedTokenStorage: AnyObject, TokenStorage {
    /// Is told of failures in places that can't throw.
    var onFailure: (@Sendable (any Error) -> Void)? { get set }

    /// Takes the right to refresh a token, if no other process has it.
    ///
    /// - Returns: nil if another process is refreshing it now.
    nonisolated func lockForRefresh(of id: String) throws -> (any RefreshLock)?
}

/// The right to refresh a token, given back by ``release()`` or when the process ends.
package protocol RefreshLock: Sendable {
    func release()
}
