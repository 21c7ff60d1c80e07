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
    ///   - client: The OAuth client that exchanges the session token for tokens; `nil` for none. The client needs a redirect URI.
    ///   - deviceToken: A stable identifier by which the server can remember this device; `nil` for none.
    ///   - session: The network session for pictures of QR codes; `nil` for a session that follows no redirects.
    public init(
        organization: URL, client: OAuth2Client? = nil, deviceToken: String? = nil, session: (any URLSessionProtocol)? = nil
    ) {
        self.organization = .success(organization)
        self.client = client
        self.deviceToken = deviceToken
        self.session = session ?? Self.pictureSession
    }

    /// Creates a service with the settings of `Okta.plist`. If the settings are missing or invalid, each sign-in throws the reason.
    public init() {
        let client = Result { try OAuth2Client(OAuth2Client.PropertyListConfiguration()) }
        organization = client.map(\.configuration.issuerURL)
        self.client = try? client.get()
        deviceToken = nil
        session = Self.pictureSession
    }

    private func configured() throws -> URL {
        do { return try organization.get() } catch { throw ClassicError.notConfigured(reason: String(reflecting: error)) }
    }

    private func start() throws -> OktaAuthStatusUnauthenticated {
        let start = OktaAuthStatusUnauthenticated(oktaDomain: try configured())
        start.restApi.deviceToken = deviceToken
        return start
    }

    /// The user name in the stored ID token; `nil` if no user is signed in.
    public var signedInUser: String? {
        Credential.default.map { $0.token.idToken?.preferredUsername ?? $0.token.idToken?.subject ?? "" }
    }

    /// Begins a sign-in at the organization.
    public func signIn(username: String, password: String) async throws -> OktaAuthStatus {
        try await start().authenticate(username: username, password: password)
    }

    /// Begins the recovery of a password at the organization.
    public func recoverPassword(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await start().recoverPassword(username: username, factorType: way)
    }

    /// Begins to unlock an account at the organization.
    public func unlockAccount(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await start().unlockAccount(username: username, factorType: way)
    }

    /// Continues a transaction at the organization with a token.
    public func goOn(with token: String, of kind: ClassicTokenKind) async throws -> OktaAuthStatus {
        switch kind {
        case .state: try await start().fetchStatus(token)
        case .recovery: try await start().verifyRecoveryToken(token)
        case .activation: try await start().authenticate(activationToken: token)
        }
    }

    /// Returns the content of a QR code picture. Sends requests only to the organization, even after a redirect.
    public func text(ofPicture picture: URL) async -> String? {
        guard let organization = try? organization.get(), EnrollmentPicture.isPicture(picture, of: organization) else { return nil }
        return await EnrollmentPicture.text(of: picture, through: session)
    }

    /// Exchanges the session token, which is valid once, for tokens and stores them. Returns `false` without a client.
    public func finish(sessionToken: String) async throws -> Bool {
        guard let client else { return false }
        let token: Token
        do {
            token = try await SessionTokenFlow(client: client).start(with: sessionToken)
        } catch OAuth2Error.missingLocationHeader {
            // The server returned a page that only a browser can continue.
            throw ClassicError.moreIsAsked(client: client.configuration.clientId)
        }
        let former = Credential.default
        try Credential.setDefault(try Credential.store(token))
        try former?.remove()
        return true
    }

    /// Revokes and removes the tokens. Does nothing if no user is signed in.
    public func signOut() async throws {
        try await Credential.default?.revoke()
    }
}
