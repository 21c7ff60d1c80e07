/// A source of credentials for tokens. While a token is stored, it always has the same credential object.
@CredentialActor
public protocol CredentialDataSource: Sendable {
    /// The delegate for created and removed credentials, held weakly.
    var delegate: (any CredentialDataSourceDelegate)? { get set }

    /// Returns the network session for the client of a credential. The default is ``OAuth2Client/defaultSession``, else a session without
    /// cookies or cache.
    func urlSession(for token: Token) -> any URLSessionProtocol

    /// The number of credentials.
    var credentialCount: Int { get }

    /// Returns whether a credential exists for the token's id.
    func hasCredential(for token: Token) -> Bool

    /// Returns the credential for the token's id and creates it if needed. The object stays the same until it is removed.
    /// - Parameter coordinator: The coordinator of a new credential.
    func credential(for token: Token, coordinator: any CredentialCoordinator) -> Credential

    /// Removes a credential from the data source.
    func remove(credential: Credential)
}

/// A delegate for created and removed credentials.
@CredentialActor
public protocol CredentialDataSourceDelegate: AnyObject {
    /// Called after a credential was created.
    func credential(dataSource: any CredentialDataSource, created credential: Credential)

    /// Called after a credential was removed.
    func credential(dataSource: any CredentialDataSource, removed credential: Credential)
}
