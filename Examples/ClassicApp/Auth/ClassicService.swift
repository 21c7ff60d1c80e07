public import AuthFoundation
public import Foundation
internal import OAuth2Auth
public import OktaAuthSdk

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The service of the app itself. The stored credential is its only state.
@MainActor
public final class ClassicService: ClassicServicing {
    private let organization: Result<URL, any Error>
    private let client: OAuth2Client?
    private let deviceToken: String?
    private let session: any URLSessionProtocol

    /// For who gives no session. Not the client's, which follows redirects.
    private static let pictureSession = RedirectlessSession()

    /// Takes an organization.
    ///
    /// - Parameters:
    ///   - organization: The organization, or one of its issuers.
    ///   - client: What the session token is traded for tokens as; nil for none. It needs a redirect URI.
    ///   - deviceToken: What names this device to the server, the same each time that it is to be known again; nil for nothing.
    ///   - session: What pictures of codes are asked for through; nil for one that follows no redirect.
    public init(
        organization: URL, client: OAuth2Client? = nil, deviceToken: String? = nil, session: (any URLSessionProtocol)? = nil
    ) {
        self.organization = .success(organization)
        self.client = client
        self.deviceToken = deviceToken
        self.session = session ?? Self.pictureSession
    }

    /// With the settings of `Okta.plist`. Without them every sign-in says why.
    public init() {
        let client = Result { try OAuth2Client(OAuth2Client.PropertyListConfiguration()) }
        organization = client.map(\.configuration.issuerURL)
        self.client = try? client.get()
        deviceToken = nil
        session = Self.pictureSession
    }

    private func start() throws -> OktaAuthStatusUnauthenticated {
        let start = OktaAuthStatusUnauthenticated(oktaDomain: try organization.get())
        start.restApi.deviceToken = deviceToken
        return start
    }

    /// As the stored id token names them.
    public var signedInUser: String? {
        Credential.default.map { $0.token.idToken?.preferredUsername ?? $0.token.idToken?.subject ?? "" }
    }

    /// Of the organization.
    public func signIn(username: String, password: String) async throws -> OktaAuthStatus {
        try await start().authenticate(username: username, password: password)
    }

    /// Of the organization.
    public func recoverPassword(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await start().recoverPassword(username: username, factorType: way)
    }

    /// Of the organization.
    public func unlockAccount(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await start().unlockAccount(username: username, factorType: way)
    }

    /// Of the organization.
    public func goOn(with token: String, of kind: ClassicTokenKind) async throws -> OktaAuthStatus {
        switch kind {
        case .state: try await start().fetchStatus(token)
        case .recovery: try await start().verifyRecoveryToken(token)
        case .activation: try await start().authenticate(activationToken: token)
        }
    }

    /// Sends requests only to the organization, even after a redirect.
    public func text(ofPicture picture: URL) async -> String? {
        guard let organization = try? organization.get(), EnrolmentPicture.isPicture(picture, of: organization) else { return nil }
        return await EnrolmentPicture.text(of: picture, through: session)
    }

    /// The session token is good once.
    public func finish(sessionToken: String) async throws -> Bool {
        guard let client else { return false }
        let token: Token
        do {
            token = try await SessionTokenFlow(client: client).start(with: sessionToken)
        } catch OAuth2Error.missingLocationHeader {
            // The server shows a page instead, on which a browser could go on.
            throw ClassicError.moreIsAsked(client: client.configuration.clientId)
        }
        let former = Credential.default
        try Credential.setDefault(try Credential.store(token))
        try former?.remove()
        return true
    }

    /// Does nothing if no user is signed in.
    public func signOut() async throws {
        try await Credential.default?.revoke()
    }
}
