/// The default data source: creates credentials and keeps them until they are removed.
@CredentialActor
final class DefaultCredentialDataSource: CredentialDataSource {
    fileprivate static let sharedSession = EphemeralSession()

    weak var delegate: (any CredentialDataSourceDelegate)?

    private var credentials: [String: Credential] = [:]
    private let session: (any URLSessionProtocol)?

    nonisolated init(session: (any URLSessionProtocol)? = nil) {
        self.session = session
    }

    func urlSession(for token: Token) -> any URLSessionProtocol {
        session ?? usualSession
    }

    var credentialCount: Int { credentials.count }

    func hasCredential(for token: Token) -> Bool { credentials[token.id] != nil }

    func credential(for token: Token, coordinator: any CredentialCoordinator) -> Credential {
        if let credential = credentials[token.id] { return credential }
        let credential = Credential(token: token, coordinator: coordinator)
        credentials[token.id] = credential
        delegate?.credential(dataSource: self, created: credential)
        return credential
    }

    func remove(credential: Credential) {
        guard credentials.removeValue(forKey: credential.id) != nil else { return }
        delegate?.credential(dataSource: self, removed: credential)
    }
}

extension CredentialDataSource {
    /// Returns ``OAuth2Client/defaultSession``, else a shared session without cookies or cache.
    public func urlSession(for token: Token) -> any URLSessionProtocol {
        usualSession
    }

    fileprivate var usualSession: any URLSessionProtocol {
        OAuth2Client.defaultSession ?? DefaultCredentialDataSource.sharedSession
    }
}
