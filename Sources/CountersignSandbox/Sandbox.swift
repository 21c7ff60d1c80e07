public import AuthFoundation
internal import AuthorizationServer
public import Foundation
internal import IdentityCore
public import JOSE
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import ResourceServer
internal import Store

/// A whole organization in one call: the real server, people and applications to sign in with, and a hand on its clock, its faults and its
/// keys.
///
/// ```swift
/// let sandbox = try await Sandbox.start()
/// let flow = DirectAuthenticationFlow(client: sandbox.client())
/// let status = try await flow.start("jane.doe@example.com", with: .password("Correct-Horse-7"))
/// sandbox.advance(by: 3600)  // for the client and for the server
/// await sandbox.stop()
/// ```
///
/// `Sendable`; safe from any task. A sandbox that nobody holds any more stops by itself, without waiting for requests under way.
public final class Sandbox: Sendable, Redacted {
    /// The clock of both sides.
    public let clock: SandboxClock
    /// Where the server is reached: scheme, host and port.
    public let origin: URL
    /// The issuer of the authorization server `default`.
    public let issuer: URL
    /// The client applications, those that the control API created among them.
    public var applications: [SandboxApplication] {
        organization.applications.map { SandboxApplication(clientID: $0.id, secret: $0.secret) }
    }
    /// Where the sample resource server is reached; nil if there is none.
    public let messagesURL: URL?
    /// Where a browser on this machine finds the virtual phones; nil if they have no page.
    public let phoneURL: URL?
    /// Carries requests to the sandbox in this process, with or without a port.
    public let transport: InProcessTransport
    /// The push service on this machine, between the server and the phones: what was pushed is seen there, and it can be told to misbehave.
    public let pushGateway: PushGateway
    /// Every mail, text and call that the server sent.
    public let outbox: Outbox
    /// The certificate authority that signed the server's certificate; nil without TLS.
    public let authority: LocalAuthority?

    let engine: Engine
    let organization: LiveOrganization
    let keys: SandboxKeys
    let faults: FaultPlan
    let log: RequestLog
    private let store: any Store
    let phones: VirtualPhones
    let apps: AuthenticatorApps
    let tokens: SoftwareTokens
    private let server: AuthorizationServer
    private let services: [Task<Void, any Error>]

    /// Starts a sandbox; it is ready when this returns.
    ///
    /// - Parameter configuration: What it is made of; by default in memory, on a free port, with the usual people.
    /// - Returns: The running sandbox.
    /// - Throws: `PortError` if a port can't be bound, before anything is started; or errors of the folder.
    public static func start(_ configuration: Configuration = Configuration()) async throws -> Sandbox {
        try await SandboxStart(configuration).run()
    }

    init(_ parts: SandboxStart.Parts) {
        clock = parts.clock
        origin = parts.origin
        issuer = parts.origin.appending(path: "oauth2/default")
        messagesURL = parts.messagesURL
        phoneURL = parts.phoneURL
        transport = InProcessTransport(server: parts.server, origin: parts.origin)
        authority = parts.authority
        engine = parts.engine
        store = parts.store
        keys = parts.keys
        faults = parts.faults
        log = parts.log
        organization = parts.organization
        phones = parts.phones
        apps = parts.apps
        tokens = parts.tokens
        server = parts.server
        outbox = parts.outbox
        pushGateway = parts.pushGateway
        services = parts.services
    }

    deinit {
        phones.close()
        outbox.close()
        for service in services { service.cancel() }
    }

    /// Stops listening, ends the requests under way and closes the store. Later calls change nothing.
    public func stop() async {
        phones.close()
        outbox.close()
        for service in services { service.cancel() }
        for service in services { _ = await service.result }
        // Closed already, or in memory: there is nothing that a caller could do about it.
        try? await store.close()
    }

    // MARK: - People and clients

    /// The people who can sign in.
    public var users: [SandboxUser] { organization.users }

    /// Adds a person, or changes the one with that login, password included.
    ///
    /// - Parameter user: The person.
    /// - Throws: If the user is invalid, for example because the password is too short (nothing is changed then), or if the store failed.
    public func add(_ user: SandboxUser) async throws {
        try await organization.add(user)
    }

    /// A client of the sandbox on its clock.
    ///
    /// - Parameters:
    ///   - application: The application that it is.
    ///   - scope: What it asks for.
    ///   - session: What its requests go through; nil for ``transport``, which needs no port.
    /// - Returns: A new client.
    public func client(
        _ application: SandboxApplication = .password, scope: [String] = ["openid", "profile", "email", "offline_access"],
        session: (any URLSessionProtocol)? = nil
    ) -> OAuth2Client {
        OAuth2Client(configuration(application, scope: scope), session: session ?? transport, clock: clock)
    }

    /// The settings of an application's client.
    ///
    /// - Parameters:
    ///   - application: The application.
    ///   - scope: What it asks for.
    /// - Returns: What an app would have in its `Okta.plist`.
    public func configuration(
        _ application: SandboxApplication = .password, scope: [String] = ["openid", "profile", "email", "offline_access"]
    ) -> OAuth2Client.Configuration {
        OAuth2Client.Configuration(
            issuerURL: issuer, clientId: application.clientID, scope: scope,
            authentication: application.secret.map(OAuth2Client.ClientAuthentication.clientSecret) ?? .none)
    }

    // MARK: - Phones

    /// A person's phone. The first call sets it up: the person signs in as the phone's app, with their password, and the phone is enrolled.
    ///
    /// ```swift
    /// let phone = try await sandbox.phone(for: "jane.doe@example.com")
    /// phone.autoApprove = true
    /// ```
    ///
    /// In a sandbox with a folder, phones are kept there, and are there again when it is started at the same origin.
    ///
    /// - Parameters:
    ///   - login: Whose.
    ///   - userVerification: Whether a phone that is set up now gets a key that the person unlocks; always, if the organization asks for it.
    ///   - session: What the requests of a phone that is set up now go through; nil for ``transport``.
    /// - Returns: The phone; the same one each time.
    /// - Throws: ``PhoneError`` if the organization has no authenticator for phones, or the person can't sign in with a password alone;
    ///   `DeviceAuthenticatorError`, or what the sign-in throws.
    public func phone(
        for login: String, userVerification: Bool = false, session: (any URLSessionProtocol)? = nil
    ) async throws -> VirtualPhone {
        try await phones.phone(for: login, userVerification: userVerification, session: session)
    }

    /// A person's phone, set up by the QR code that their sign-in page shows: nobody signs in on the phone.
    ///
    /// - Parameters:
    ///   - login: Whose phone it is.
    ///   - uri: What the QR code holds.
    ///   - userVerification: Whether it gets a key that the person unlocks; always, if the organization asks for it.
    ///   - session: What its requests go through; nil for ``transport``.
    /// - Returns: The phone.
    /// - Throws: ``PhoneError`` if the person has a phone already, or the code is another person's or not of this sandbox; what enrolling
    ///   throws, as for a code that was used.
    public func phone(
        for login: String, scanning uri: String, userVerification: Bool = false, session: (any URLSessionProtocol)? = nil
    ) async throws -> VirtualPhone {
        try await phones.phone(for: login, scanning: uri, userVerification: userVerification, session: session)
    }

    /// The phones that were set up, by the names of their owners.
    public var allPhones: [VirtualPhone] { phones.all }

    /// A one-time token that signs a person in with a browser, or without one (`SessionTokenFlow`), and asks nothing of them.
    ///
    /// - Parameters:
    ///   - login: The name of one of ``users``.
    ///   - isTwoFactors: Whether a second factor counts as proved beside the password.
    /// - Returns: The token, good for five minutes and once; nil if there is no such active person.
    /// - Throws: If the store failed.
    public func sessionToken(for login: String, isTwoFactors: Bool = true) async throws -> String? {
        guard let user = try await engine.user(login: login) else { return nil }
        let context = RequestContext(now: clock.now, requestID: "sandbox-session-token")
        return try await engine.mintSessionToken(userID: user.id, isTwoFactors: isTwoFactors, context: context)
    }

    /// Signs a person out everywhere: their sessions in every browser end, and applications that want to hear of it are told.
    ///
    /// - Parameters:
    ///   - login: The name of one of ``users``.
    ///   - revokesTokens: Whether the tokens that their apps have end as well.
    /// - Returns: Whether there is such a person.
    /// - Throws: If the store failed.
    @discardableResult
    public func signOutEverywhere(_ login: String, revokesTokens: Bool = true) async throws -> Bool {
        guard let user = try await engine.user(login: login) else { return false }
        try await server.signOutEverywhere(userID: user.id, revokesGrants: revokesTokens, from: "127.0.0.1")
        return true
    }

    /// Sends a person who was added without a password the mail by which they set their account up, to the ``outbox``.
    ///
    /// - Parameter login: Whose: a name that is an address, or whose profile has one.
    /// - Throws: ``FactorError`` if there is nobody with that login, or they have a password; or what the store throws.
    public func welcome(_ login: String) async throws {
        guard let id = try await engine.user(login: login)?.id, try await server.welcome(userID: id, from: "127.0.0.1") else {
            throw FactorError(.unknownPerson, "There is nobody with the login \(login) who has no password. Add them without one.")
        }
    }

    // MARK: - Time, faults, forgeries

    /// Moves the clock of both sides on.
    ///
    /// - Parameter interval: By how many seconds.
    public func advance(by interval: TimeInterval) {
        clock.advance(by: interval)
    }

    /// Lets something go wrong, from the next request to that endpoint on.
    ///
    /// - Parameter fault: What, where and how often. Faults at the same endpoint happen in the order in which they were injected.
    public func inject(_ fault: Fault) {
        faults.add(fault)
    }

    /// Forgets the faults that have not happened.
    public func clearFaults() {
        faults.clear()
    }

    /// The faults that have not happened, in order.
    public var pendingFaults: [Fault] { faults.pending }

    /// The requests that the server got, in the order in which they were answered.
    public var requests: [LoggedRequest] { log.all }

    /// Forgets the requests up to now.
    public func clearRequests() {
        log.clear()
    }

    /// Makes a forged token of a good one, which stays good.
    ///
    /// - Parameters:
    ///   - forgery: What is wrong with it.
    ///   - token: An access token or id token that the sandbox issued.
    /// - Returns: A token that is like it in everything else.
    /// - Throws: ``ForgeryError`` if it is no token of this sandbox.
    public func forgedToken(_ forgery: Forgery, of token: String) throws -> String {
        try forgery.forge(token, keys: keys, now: clock.now)
    }

    /// Lets a new key sign from now on; the old one stays published.
    ///
    /// - Throws: If the store failed.
    public func rotateKeys() async throws {
        _ = try await engine.rotateKeys(
            .forced, context: RequestContext(now: clock.now, requestID: "sandbox-rotation"),
            making: { [keys] in try keys.make($0) })
    }
}
