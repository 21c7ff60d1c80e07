/// What joins the storage of tokens to the credentials made of them.
@CredentialActor
public protocol CredentialCoordinator: AnyObject, Sendable {
    /// Makes and keeps the credentials.
    var credentialDataSource: any CredentialDataSource { get set }

    /// Keeps the tokens.
    var tokenStorage: any TokenStorage { get set }

    /// Takes part in what a client does, so that a token refreshed by it is stored.
    ///
    /// - Parameter client: The client of a credential.
    func observe(oauth2 client: OAuth2Client)

    /// Forgets a credential: deletes its token and metadata here, without telling the server.
    ///
    /// - Parameter credential: The credential.
    /// - Throws: What the storage throws.
    func remove(credential: Credential) throws
}
