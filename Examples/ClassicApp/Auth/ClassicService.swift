public import AuthFoundation
public import Foundation
internal import OAuth2Auth
public import OktaAuthSdk

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The app's own service. The stored credential is its only state.
@MainActor
public final class ClassicService: ClassicServicing {
    private let organization: Result<URL, any Error>
    private let client: OAuth2Client?
    private let deviceToken: String?
    private let session: any URLSessionProtocol

    /// The default session for pictures. The client's own session is not used, because it follows redirects.
    private static let pictureSession = RedirectlessSession()

    /// Creates a service for an organization.
    ///
    /// - Parameters:
    ///   - organization: The URL of the organization or of one of its issuers.
    ///   - client: The OAuth client that exchanges the session token for tokens; `nil` for none. It needs a redirect URI.
    ///   - deviceToken: A stable identifier by which the server can remember this device; `nil` for none.
    ///   - session: The network session for pictures of codes; `nil` for one that follows no redirects.
    public init(
        organization: URL, client: OAuth2Client? = nil, deviceToken: String? = nil, session: (any URLSessionProtocol)? = nil
    ) {
        self.organization = .success(organization)
        self.client = client
        self.deviceToken = deviceToken
        self.session = session ?? Self.pictureSession
    }

    /// Uses the settings of `Okta.plist`. Without them, each sign-in throws the reason.
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

    /// The user name in the stored ID token.
    public var signedInUser: String? {
        Credential.default.map { $0.token.idToken?.preferredUsername ?? $0.token.idToken?.subject ?? "" }
    }

    /// Calls the organization.
    public func signIn(username: String, password: String) async throws -> OktaAuthStatus {
        try await start().authenticate(username: username, password: password)
    }

    /// Calls the organization.
    public func recoverPassword(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await start().recoverPassword(username: username, factorType: way)
    }

    /// Calls the organization.
    public func unlockAccount(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await start().unlockAccount(username: username, factorType: way)
    }

    /// Calls the organization.
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

    /// A session token is valid once.
    public func finish(sessionToken: String) async throws -> Bool {
        guard let client else { return false }
        let token: Token
        do {
            token = try await SessionTokenFlow(client: client).start(with: sessionToken)
        } catch OAuth2Error.missingLocationHeader {
            // The server returned a page on which a browser could continue.
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
