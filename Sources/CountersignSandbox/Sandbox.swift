public import AuthFoundation
internal import AuthorizationServer
public import Foundation
internal import IdentityCore
public import JOSE
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import ResourceServer
internal import Store

/// A complete organization for tests: the real server, with users and applications, and control over its clock, faults and keys.
///
/// ```swift
/// let sandbox = try await Sandbox.start()
/// let flow = DirectAuthenticationFlow(client: sandbox.client())
/// let status = try await flow.start("jane.doe@example.com", with: .password("Correct-Horse-7"))
/// sandbox.advance(by: 3600)  // for the client and for the server
/// await sandbox.stop()
/// ```
///
/// Safe from any task. When the last reference is released, the sandbox stops without waiting for requests in progress.
public final class Sandbox: Sendable, Redacted {
    /// The clock of the server and the clients.
    public let clock: SandboxClock
    /// The server's origin: scheme, host and port.
    public let origin: URL
    /// The issuer of the authorization server `default`.
    public let issuer: URL
    /// The client applications, including those created with the control API.
    public var applications: [SandboxApplication] {
        organization.applications.map { SandboxApplication(clientID: $0.id, secret: $0.secret) }
    }
    /// The URL of the sample resource server; `nil` if there is none.
    public let messagesURL: URL?
    /// The URL of the page with the virtual phones, for a browser on this machine; `nil` if there is none.
    public let phoneURL: URL?
    /// The transport that sends requests to the sandbox within this process, whether or not the sandbox listens on a port.
    public let transport: InProcessTransport
    /// The push service between the server and the phones. It records the pushes and can simulate faults.
    public let pushGateway: PushGateway
    /// The mails, texts and calls that the server sent.
    public let outbox: Outbox
    /// The certificate authority that signed the server's certificate; `nil` without TLS.
    public let authority: LocalAuthority?

    let engine: Engine
    let organization: LiveOrganization
    let keys: SandboxKeys
    let faults: FaultPlan
    let log: RequestLog
    private let stores: [any Store]
    let phones: VirtualPhones
    let apps: AuthenticatorApps
    let tokens: SoftwareTokens
    /// The servers; usually one.
    private let servers: [AuthorizationServer]
    private let services: [Task<Void, any Error>]

    /// Starts a sandbox and returns when it is ready.
    /// - Parameter configuration: The configuration. By default, the sandbox is in memory, on a free port, with the default users.
    /// - Throws: `PortError` if a port is in use (then nothing is started); errors of the folder.
    public static func start(_ configuration: Configuration = Configuration()) async throws -> Sandbox {
        try await SandboxStart(configuration).run()
    }

    init(
        clock: SandboxClock, origin: URL, messagesURL: URL?, phoneURL: URL?, servers: [AuthorizationServer], authority: LocalAuthority?,
        engine: Engine, stores: [any Store], keys: SandboxKeys, faults: FaultPlan, log: RequestLog, organization: LiveOrganization,
        phones: VirtualPhones, apps: AuthenticatorApps, tokens: SoftwareTokens, outbox: Outbox, pushGateway: PushGateway,
        services: [Task<Void, any Error>]
    ) {
        self.clock = clock
        self.origin = origin
        issuer = origin.appending(path: "oauth2/default")
        self.messagesURL = messagesURL
        self.phoneURL = phoneURL
        transport = InProcessTransport(servers, origin: origin)
        self.authority = authority
        self.engine = engine
        self.stores = stores
        self.keys = keys
        self.faults = faults
        self.log = log
        self.organization = organization
        self.phones = phones
        self.apps = apps
        self.tokens = tokens
        self.servers = servers
        self.outbox = outbox
        self.pushGateway = pushGateway
        self.services = services
    }

    deinit {
        phones.close()
        outbox.close()
        for service in services { service.cancel() }
    }

    /// Stops listening, cancels requests in progress and closes the store. Idempotent.
    public func stop() async {
        phones.close()
        outbox.close()
        for service in services { service.cancel() }
        for service in services { _ = await service.result }
        // An error is ignored, because the caller could not do anything about it.
        for store in stores { try? await store.close() }
    }

    /// The current users.
    public var users: [SandboxUser] { organization.users }

    /// Adds a user, or replaces the user with the same login, including the password.
    /// - Throws: An error if the user is invalid, for example because the password is too short (then nothing is changed), or if the store
    ///   fails.
    public func add(_ user: SandboxUser) async throws {
        try await organization.add(user)
    }

    /// Returns a new client of the sandbox with its clock.
    /// - Parameter session: The session that sends the requests; `nil` for ``transport``, which needs no port.
    public func client(
        _ application: SandboxApplication = .password, scope: [String] = ["openid", "profile", "email", "offline_access"],
        session: (any URLSessionProtocol)? = nil
    ) -> OAuth2Client {
        OAuth2Client(configuration(application, scope: scope), session: session ?? transport, clock: clock)
    }

    /// Returns the client settings of an application, as an app has them in its `Okta.plist`.
    public func configuration(
        _ application: SandboxApplication = .password, scope: [String] = ["openid", "profile", "email", "offline_access"]
    ) -> OAuth2Client.Configuration {
        OAuth2Client.Configuration(
            issuerURL: issuer, clientId: application.clientID, scope: scope,
            authentication: application.secret.map(OAuth2Client.ClientAuthentication.clientSecret) ?? .none)
    }

    /// Returns a user's phone. The first call signs the user in with the password and enrolls the phone.
    ///
    /// ```swift
    /// let phone = try await sandbox.phone(for: "jane.doe@example.com")
    /// phone.autoApprove = true
    /// ```
    ///
    /// A sandbox with a folder stores its phones in the folder, and restores them when it is started at the same origin.
    ///
    /// - Parameters:
    ///   - userVerification: Whether a new phone gets a user verification key. If the organization requires the key, every new phone gets a
    ///     key.
    ///   - session: The session that sends the requests of a new phone; `nil` for ``transport``.
    /// - Returns: The phone; the same phone at each call.
    /// - Throws: ``PhoneError`` if the organization has no authenticator for phones or the user cannot complete the sign-in;
    ///   `DeviceAuthenticatorError`; errors of the sign-in.
    public func phone(
        for login: String, userVerification: Bool = false, session: (any URLSessionProtocol)? = nil
    ) async throws -> VirtualPhone {
        try await phones.phone(for: login, userVerification: userVerification, session: session)
    }

    /// Enrolls a user's phone with the QR code of a sign-in page; the user does not sign in on the phone.
    /// - Parameters:
    ///   - uri: The content of the QR code.
    ///   - userVerification: Whether the phone gets a user verification key. If the organization requires the key, the phone always gets a
    ///     key.
    ///   - session: The session that sends the phone's requests; `nil` for ``transport``.
    /// - Throws: ``PhoneError`` if the user already has a phone, or the code is another user's or another sandbox's. Errors of the
    ///   enrollment, such as for a used code.
    public func phone(
        for login: String, scanning uri: String, userVerification: Bool = false, session: (any URLSessionProtocol)? = nil
    ) async throws -> VirtualPhone {
        try await phones.phone(for: login, scanning: uri, userVerification: userVerification, session: session)
    }

    /// The enrolled phones, sorted by login.
    public var allPhones: [VirtualPhone] { phones.all }

    /// Returns a one-time token that signs a user in without interaction, with a browser or with `SessionTokenFlow`.
    /// - Parameter isTwoFactors: Whether a second factor counts as verified in addition to the password.
    /// - Returns: The token, valid once and for five minutes; `nil` if no active user has this login.
    /// - Throws: An error if the store fails.
    public func sessionToken(for login: String, isTwoFactors: Bool = true) async throws -> String? {
        guard let user = try await engine.user(login: login) else { return nil }
        let context = RequestContext(now: clock.now, requestID: "sandbox-session-token")
        return try await engine.mintSessionToken(userID: user.id, isTwoFactors: isTwoFactors, context: context)
    }

    /// Resets the counters in memory of all servers.
    func forgetCounts() async {
        for server in servers { await server.forgetCounts() }
    }

    /// Signs a user out everywhere: ends the sessions in all browsers, and notifies applications with back-channel logout.
    /// - Parameter revokesTokens: Whether the tokens of the user's apps are also revoked.
    /// - Returns: Whether the user exists.
    /// - Throws: An error if the store fails.
    @discardableResult
    public func signOutEverywhere(_ login: String, revokesTokens: Bool = true) async throws -> Bool {
        guard let user = try await engine.user(login: login) else { return false }
        try await servers[0].signOutEverywhere(userID: user.id, revokesGrants: revokesTokens, from: "127.0.0.1")
        return true
    }

    /// Sends the activation mail of a user without a password to the ``outbox``.
    /// - Parameter login: The login of the user. It must be a mail address, or the user's profile must have one.
    /// - Throws: ``FactorError`` if no user has this login, or the user has a password; errors of the store.
    public func welcome(_ login: String) async throws {
        guard let id = try await engine.user(login: login)?.id, try await servers[0].welcome(userID: id, from: "127.0.0.1") else {
            throw FactorError(.unknownPerson, "\(login) is not a user without a password. Add the user without one.")
        }
    }

    /// Advances the clock of the server and the clients.
    /// - Parameter interval: The number of seconds.
    public func advance(by interval: TimeInterval) {
        clock.advance(by: interval)
    }

    /// Adds a fault, effective from the next request to its endpoint. Faults at the same endpoint happen in the order in which they were
    /// injected.
    public func inject(_ fault: Fault) {
        faults.add(fault)
    }

    /// Deletes the pending faults.
    public func clearFaults() {
        faults.clear()
    }

    /// The pending faults, in order.
    public var pendingFaults: [Fault] { faults.pending }

    /// The requests that the server received, in the order of the responses.
    public var requests: [LoggedRequest] { log.all }

    /// Deletes the recorded requests.
    public func clearRequests() {
        log.clear()
    }

    /// Returns a forged version of a token. The original stays valid.
    /// - Parameters:
    ///   - forgery: The defect.
    ///   - token: An access token or ID token that the sandbox issued.
    /// - Throws: ``ForgeryError`` if the token is not from this sandbox.
    public func forgedToken(_ forgery: Forgery, of token: String) throws -> String {
        try forgery.forge(token, keys: keys, now: clock.now)
    }

    /// Makes the server sign with a new key from now on. The old key stays published.
    /// - Throws: An error if the store fails.
    public func rotateKeys() async throws {
        _ = try await engine.rotateKeys(
            .forced, context: RequestContext(now: clock.now, requestID: "sandbox-rotation"),
            making: { [keys] in try keys.make($0) })
    }
}
