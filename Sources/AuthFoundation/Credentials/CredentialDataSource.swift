/// Makes credentials of tokens, and gives the same object for the same token as long as it is stored.
@CredentialActor
public protocol CredentialDataSource: Sendable {
    /// Who is told of credentials made and removed; held weakly.
    var delegate: (any CredentialDataSourceDelegate)? { get set }

    /// The network session that a credential's client uses.
    ///
    /// - Parameter token: The token of the credential.
    /// - Returns: By default ``OAuth2Client/defaultSession``, else a session without cookies or cache.
    func urlSession(for token: Token) -> any URLSessionProtocol

    /// How many credentials are kept.
    var credentialCount: Int { get }

    /// Whether a credential is kept for a token.
    ///
    /// - Parameter token: The token; its id decides.
    /// - Returns: Whether there is one.
    func hasCredential(for token: Token) -> Bool

    /// The credential for a token, made if there is none yet.
    ///
    /// - Parameters:
    ///   - token: The token; its id decides.
    ///   - coordinator: What a new credential belongs to.
    /// - Returns: The same object for the same id until it is removed.
    func credential(for token: Token, coordinator: any CredentialCoordinator) -> Credential

    /// Forgets a credential.
    ///
    /// - Parameter credential: The credential.
    func remove(credential: Credential)
}

/// Is told of credentials made and removed.
@CredentialActor
public protocol CredentialDataSourceDelegate: AnyObject {
    /// A credential was made.
    ///
    /// - Parameters:
    ///   - dataSource: Where.
    ///   - credential: The credential.
    func credential(dataSource: any CredentialDataSource, created credential: Credential)

    /// A credential was forgotten.
    ///
    /// - Parameters:
    ///   - dataSource: Where.
    ///   - credential: The credential.
    func credential(dataSource: any CredentialDataSource, removed credential: Credential)
}
