import AuthorizationServer
import Crypto
import Foundation
import IdentityCore
import JOSE
import Logging
import ServerHTTP
import Store
import TestSupport
import Testing

/// A listening server with a push authenticator, which records its pushes, logout notifications and messages.
struct PushServer: Sendable {
    let running: RunningServer
    let pushes: RecordingSender
    let logouts: RecordingLogoutSender
    let messages: RecordingMessages

    var wire: WireClient { running.wire }
    var clock: ManualClock { running.clock }
    var engine: Engine { running.engine }

    /// Runs a test against a new server and stops the server afterwards.
    static func with<Result: Sendable>(
        _ organization: PushOrganization = PushOrganization(), store: (any Store)? = nil,
        _ body: @Sendable (PushServer) async throws -> Result
    ) async throws -> Result {
        let fresh = try await make(organization, store: store)
        return try await fresh.running.instances.run { try await body(fresh.listening(on: $0)) }
    }

    /// The shared fixture of tests with rejected requests: a server that runs until the process ends, where Jane has a phone, and her
    /// `mfa_token` for `direct-app`.
    struct Refusing: Sendable {
        let server: PushServer
        let mfaToken: String
    }

    private static let shared = Task {
        let fresh = try await make(PushOrganization())
        Task { try await fresh.running.server.run() }
        let server = fresh.listening(on: try await fresh.running.server.boundPort)
        _ = try await server.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
        return Refusing(server: server, mfaToken: try await DirectClient(server).mfaToken())
    }

    static func refusing() async throws -> Refusing { try await shared.value }

    private static func make(_ organization: PushOrganization, store: (any Store)? = nil) async throws -> PushServer {
        let clock = ManualClock(sleeps: .untilCancelled)
        let environment = EngineEnvironment(
            random: SystemRandomSource(), masterKey: SymmetricKey(size: .bits256),
            passwordHasher: organization.passwordHasher ?? PasswordHasher(width: 2),
            tokenService: organization.tokenService, breachedPasswords: organization.breachedPasswords)
        let context = RequestContext(now: clock.now, requestID: "start")
        let pushes = RecordingSender()
        let logouts = RecordingLogoutSender()
        let messages = RecordingMessages()
        let proxies = organization.trustsForwardedAddresses ? [TrustedNetwork("127.0.0.1")].compactMap(\.self) : []
        var first: Engine?
        let instances = try await Instances(on: store) { store, isFirst in
            let engine = Engine(store: store, environment: environment, configurationAge: Instances.configurationAge)
            if isFirst {
                first = engine
                _ = try await engine.apply(organization.definition(origin: RunningServer.origin), context: context)
                _ = try await engine.maintainKeys(context) { $0 == .rs256 ? try TestKeys.rsa() : try SigningKey.generate($0) }
            }
            return AuthorizationServer(
                engine: engine, configuration: .init(port: 0, trustedProxies: proxies), clock: clock,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                pushSender: pushes, logoutSender: logouts, messageSender: messages)
        }
        return PushServer(
            running: RunningServer(instances: instances, engine: try #require(first), clock: clock, wire: WireClient(port: 0)),
            pushes: pushes, logouts: logouts, messages: messages)
    }

    private func listening(on port: Int) -> PushServer {
        PushServer(running: running.listening(on: port), pushes: pushes, logouts: logouts, messages: messages)
    }

    /// Changes the organization while the server runs.
    func apply(_ organization: PushOrganization) async throws {
        _ = try await engine.apply(
            organization.definition(origin: RunningServer.origin), context: RequestContext(now: clock.now, requestID: "change"))
    }

    /// Returns the number of system log events of a type.
    func logged(_ type: String) async throws -> Int {
        try await engine.systemLog(SystemLogQuery(since: .distantPast, typePrefix: type, limit: 1_000)).events.count { $0.type == type }
    }

    /// Enrolls a phone number or a mail address as a code factor of a user.
    func give(_ channel: CodeChannel, _ place: String, to login: String = PushOrganization.jane) async throws {
        let id = try #require(try await engine.user(login: login)?.id)
        let destination =
            channel == .email
            ? CodeDestination(try #require(MailAddress(place))) : CodeDestination(try #require(PhoneNumber(place)))
        let context = RequestContext(now: clock.now, requestID: "factor")
        _ = try #require(try await engine.grantCodeFactor(channel, to: destination, userID: id, context: context))
    }

    /// Signs in to the app that enrolls phones, and enrolls a phone.
    func enroll(
        _ options: WirePhone.Options = WirePhone.Options(), login: String = PushOrganization.jane,
        password: String = PushOrganization.janesPassword
    ) async throws -> WirePhone {
        let token = try await wire.post(
            "/oauth2/v1/token",
            Form.encode([
                "client_id": "phone-app", "grant_type": "password", "username": login, "password": password,
                "scope": "openid \(PushOrganization.manageScope)",
            ])
        ).json
        return try await WirePhone.enroll(
            wire, clock: clock, accessToken: try #require(token["access_token"]?.stringValue), options)
    }

    /// Enrolls another phone of Jane's, with a sign-in that the first phone approves.
    func enroll(_ options: WirePhone.Options, besides first: WirePhone) async throws -> WirePhone {
        let app = DirectClient(self, id: "phone-app", base: DirectClient.org)
        let pending = try await app.begin(["scope": "openid \(PushOrganization.manageScope)"])
        try await first.approve()
        let token = try await app.poll(pending).json
        return try await WirePhone.enroll(
            wire, clock: clock, accessToken: try #require(token["access_token"]?.stringValue), options)
    }
}

/// Form bodies as clients write them.
enum Form {
    private static let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// Returns the parameters sorted by name, with every reserved character escaped.
    static func encode(_ parameters: [String: String]) -> String {
        parameters.sorted { $0.key < $1.key }.map { "\($0)=\(escape($1))" }.joined(separator: "&")
    }

    static func escape(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text }
}
