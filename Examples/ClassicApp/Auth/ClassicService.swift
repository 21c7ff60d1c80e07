public import AuthFoundation
public import Foundation
internal import OAuth2Auth
public import OktaAuthSdk

/// The service of the app itself. The stored credential is its only state.
@MainActor
public final class ClassicService: ClassicServicing {
    private let organization: Result<URL, any Error>
    private let client: OAuth2Client?
    private let deviceToken: String?

    /// Takes an organization.
    ///
    /// - Parameters:
    ///   - organization: The organization, or one of its issuers.
    ///   - client: What the session token is traded for tokens as; nil for none. It needs a redirect URI.
    ///   - deviceToken: What names this device to the server, the same each time that it is to be known again; nil for nothing.
    public init(organization: URL, client: OAuth2Client? = nil, deviceToken: String? = nil) {
        self.organization = .success(organization)
        self.client = client
        self.deviceToken = deviceToken
    }

    /// With the settings of `Okta.plist`. Without them every sign-in says why.
    public init() {
        let client = Result { try OAuth2Client(OAuth2Client.PropertyListConfiguration()) }
        organization = client.map(\.configuration.issuerURL)
        self.client = try? client.get()
        deviceToken = nil
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
    public func restore(stateToken: String) async throws -> OktaAuthStatus {
        try await start().fetchStatus(stateToken)
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

    /// Nothing if nobody is signed in.
    public func signOut() async throws {
        try await Credential.default?.revoke()
    }
}
