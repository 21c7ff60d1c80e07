internal import AuthorizationServer
internal import Crypto
internal import Delivery
internal import Foundation
internal import Hummingbird
internal import IdentityCore
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import ResourceServer
internal import ServerHTTP
internal import SignInPages
internal import Store
internal import StoreSQLite

/// The start of a sandbox: creates the parts and waits until they are ready.
struct SandboxStart {
    private let configuration: Sandbox.Configuration
    private let faults = FaultPlan()
    private let log = RequestLog()
    private let keys = SandboxKeys()
    /// The sandbox for its own control API. The reference is weak, so that a released sandbox stops.
    private let started = NIOLockedValueBox(StartedSandbox())

    private struct StartedSandbox: Sendable { weak var sandbox: Sandbox? }
    private let outbox: Outbox
    private let tokens: SoftwareTokens

    init(_ configuration: Sandbox.Configuration) {
        self.configuration = configuration
        outbox = Outbox(clock: configuration.clock)
        tokens = SoftwareTokens(clock: configuration.clock)
    }

    func run() async throws -> Sandbox {
        // The ports are checked before the first file is created. A sandbox starts with all of its ports or not at all.
        try await PortUse.check(portUses)
        let clock = configuration.clock
        let environment = EngineEnvironment(
            random: SystemRandomSource(), masterKeys: try masterKeys(), passwordHasher: PasswordHasher(width: 2),
            tokenService: tokens)
        let stores = try await openStores()
        // Tests change the configuration and expect each server to use the change at once.
        let engines = stores.map {
            Engine(store: $0, environment: environment, configurationAge: stores.count > 1 ? .zero : .seconds(1))
        }
        let authority =
            try configuration.usesTLS ? LocalAuthority(folder: configuration.folder ?? LocalAuthority.standardFolder(), now: Date()) : nil
        let organization = try
            (configuration.organizationFile.map(SandboxOrganization.init(file:))
            ?? configuration.organization.map { try SandboxOrganization(yaml: $0) } ?? SandboxOrganization.usual.get())
            .pushing(with: PhonePushService.makeCredentials())
        // The push service is started early, because its start takes a while and the other steps do not depend on it.
        let pushing = Task { [clock, logger = configuration.logger] in
            try await PhonePushService.start(for: organization.authenticators, clock: clock, certificateDate: Date(), logger: logger)
        }
        // The sender connects only when there is a notification to send.
        let logoutSender = HTTPLogoutSender(
            timing: PushTiming(now: { clock.now }, sleep: { try await clock.sleep(for: $0) }), logger: configuration.logger)
        do {
            let sandbox = try await run(
                organization, engines: engines, stores: stores, authority: authority, pushing: pushing, logoutSender: logoutSender)
            started.withLockedValue { $0.sandbox = sandbox }
            return sandbox
        } catch {
            if let pushes = try? await pushing.value { await pushes.stop() }
            await logoutSender.shutdown()
            throw error
        }
    }

    private func run(
        _ organization: SandboxOrganization, engines: [Engine], stores: [any Store], authority: LocalAuthority?,
        pushing: Task<PhonePushService, any Error>, logoutSender: HTTPLogoutSender
    ) async throws -> Sandbox {
        let (clock, engine) = (configuration.clock, engines[0])
        let live = LiveOrganization(configuration.users ?? organization.users, of: organization, engine: engine, clock: clock)
        // Apply users and keys before the server runs, because it would otherwise create its own keys. The origin is a placeholder until
        // the port is known; the server receives no requests before that.
        try await live.apply(origin: try origin(port: 1))
        try keys.rememberSandboxOnlyKey()
        _ = try await engine.maintainKeys(
            RequestContext(now: clock.now, requestID: "sandbox-start"), making: { [keys] in try keys.make($0) })

        let phones = VirtualPhones(folder: phonesFolder, isTemporary: configuration.folder == nil)
        let apps = AuthenticatorApps(clock: clock, organizationName: organization.name, people: { live.users })
        let pushes = try await pushing.value
        let servers = try engines.map {
            try makeServer(
                engine: $0, authority: authority, live: live, phones: phones, apps: apps, sender: pushes.sender,
                logoutSender: logoutSender, branding: organization.branding)
        }
        var services: [Task<Void, any Error>] = []
        let origin: URL
        var messagesURL: URL?
        var phoneURL: URL?
        do {
            if configuration.listening == .inProcess {
                services += servers.map { server in Task { await server.deliverPushes() } }
                services += servers.map { server in Task { await server.deliverLogouts() } }
                origin = try self.origin(port: configuration.usesTLS ? 443 : 80)
            } else {
                services += servers.map { server in Task { try await server.run() } }
                var ports: [Int] = []
                for server in servers { ports.append(try await server.boundPort) }
                if let instances {
                    let proxy = try await instances.proxy(ports)
                    services.append(Self.atTheEnd(proxy.stop))
                    ports = [proxy.port]
                }
                origin = try self.origin(port: ports[0])
            }
            try await live.apply(origin: origin)
            // Each server knows its origin before the first request.
            for engine in engines { _ = try await engine.snapshot() }
            if let messagesPort = configuration.messagesPort {
                let (task, port) = try await Self.messages(messagesPort).binding {
                    try await startMessages(server: servers[0], issuer: origin.absoluteString + "/oauth2/default", port: messagesPort)
                }
                services.append(task)
                messagesURL = URL(string: "http://\(configuration.host):\(port)")
            }
            if let phonePort = configuration.phonePort {
                let page = try PhonePage(phones: phones, people: { live.users }, clock: clock)
                let (task, port) = try await Self.phones(phonePort).binding {
                    try await start { page.application(port: phonePort, logger: configuration.logger, onServerRunning: $0) }
                }
                services.append(task)
                phoneURL = URL(string: "http://localhost:\(port)")
            }
        } catch {
            for service in services { service.cancel() }
            throw error
        }
        services.append(
            Self.atTheEnd {
                await pushes.stop()
                await logoutSender.shutdown()
            })
        phones.open(
            VirtualPhones.Surroundings(
                origin: origin, transport: InProcessTransport(servers, origin: origin), gateway: pushes.gateway, clock: clock,
                logger: configuration.logger, organization: organization, people: { live.users }, app: { apps.app(of: $0) }))
        return Sandbox(
            clock: clock, origin: origin, messagesURL: messagesURL, phoneURL: phoneURL, servers: servers, authority: authority,
            engine: engine, stores: stores, keys: keys, faults: faults, log: log, organization: live, phones: phones,
            apps: apps, tokens: tokens, outbox: outbox, pushGateway: pushes.gateway,
            services: services)
    }

    private var instances: Sandbox.Instances? {
        let isFree = configuration.listening == .inProcess || configuration.listening == .port(0)
        return configuration.folder == nil && isFree ? configuration.instances : nil
    }

    /// Returns the store of each server.
    private func openStores() async throws -> [any Store] {
        if let instances { return try await instances.stores() }
        return [configuration.folder == nil ? InMemoryStore() : try SQLiteStore(path: kept.storePath)]
    }

    /// Returns a service that waits for its cancellation, then runs `stop`.
    private static func atTheEnd(_ stop: @escaping @Sendable () async -> Void) -> Task<Void, any Error> {
        Task {
            let (end, entrance) = AsyncStream.makeStream(of: Never.self)
            for await _ in end {}
            entrance.finish()
            await stop()
        }
    }

    private var portUses: [PortUse] {
        var uses: [PortUse] = []
        if case .port(let port) = configuration.listening { uses.append(PortUse(port: port, purpose: "authorization server")) }
        if let port = configuration.messagesPort { uses.append(Self.messages(port)) }
        if let port = configuration.phonePort { uses.append(Self.phones(port)) }
        return uses
    }

    private static func messages(_ port: Int) -> PortUse { PortUse(port: port, purpose: "resource server") }

    private static func phones(_ port: Int) -> PortUse { PortUse(port: port, purpose: "virtual phones") }

    private func makeServer(
        engine: Engine, authority: LocalAuthority?, live: LiveOrganization, phones: VirtualPhones, apps: AuthenticatorApps,
        sender: any PushSender, logoutSender: any LogoutSender, branding: Branding
    ) throws -> AuthorizationServer {
        let clock = configuration.clock
        let sandbox: @Sendable () -> Sandbox? = { [started] in started.withLockedValue { $0.sandbox } }
        let control = ControlAPI(
            clock: clock, faults: faults, log: log, organization: live, phones: PhoneCommands(phones: phones),
            apps: AuthenticatorAppCalls(apps: apps, clock: clock, sandbox: sandbox),
            outbox: OutboxCalls(outbox: outbox, sleep: { try await Task.sleep(for: .seconds($0), clock: .continuous) }),
            sandbox: sandbox)
        let interceptor = SandboxInterceptor(clock: clock, faults: faults, log: log, control: control, keys: keys)
        let port = if case .port(let port) = configuration.listening { port } else { 0 }
        let certificate = try authority?.issueCertificate(now: Date())
        return AuthorizationServer(
            engine: engine,
            configuration: AuthorizationServer.Configuration(
                host: "127.0.0.1", port: port,
                tls: certificate.map { .init(certificateChain: .text($0.chainPEM), privateKey: .text($0.keyPEM)) },
                // All connections come from this machine.
                limits: .init(connectionsPerAddress: 10_000), branding: branding),
            clock: ServerClock(clock: clock), logger: configuration.logger, pushSender: sender, logoutSender: logoutSender,
            messageSender: OutboxSender(outbox: outbox),
            // Held polls end at a time of the clock, so polls are held only if the clock runs by itself.
            holdsPolls: clock.mode == .running, interceptor: { await interceptor.intercept($0, next: $1) })
    }

    private func startMessages(server: AuthorizationServer, issuer: String, port: Int) async throws -> (Task<Void, any Error>, Int) {
        let clock = configuration.clock
        let service = MessagesService(
            verifier: AccessTokenVerifier(
                .init(issuer: issuer, clientID: nil), fetcher: InProcessFetcher(server: server), now: { clock.now }),
            publishesMetadata: true, now: { clock.now }, logger: configuration.logger)
        return try await start { service.application(port: port, onServerRunning: $0) }
    }

    /// Runs an application beside the server. Returns its task and its port.
    private func start<Application: ApplicationProtocol>(
        _ make: (@escaping @Sendable (any Channel) async -> Void) -> Application
    ) async throws -> (Task<Void, any Error>, Int) {
        let (ports, announce) = AsyncThrowingStream.makeStream(of: Int.self)
        let application = make { announce.yield($0.localAddress?.port ?? 0) }
        let task = Task {
            do {
                try await application.run()
            } catch {
                announce.finish(throwing: error)
                throw error
            }
        }
        for try await port in ports { return (task, port) }
        throw CancellationError()
    }

    private func origin(port: Int) throws -> URL {
        let scheme = configuration.usesTLS ? "https" : "http"
        let isStandard = port == (configuration.usesTLS ? 443 : 80)
        let text = "\(scheme)://\(configuration.host)" + (isStandard ? "" : ":\(port)")
        guard let url = URL(string: text) else { throw URLError(.badURL) }
        return url
    }

    /// Returns a new key for a sandbox in memory; for one in a folder, the key that was first created there.
    private func masterKeys() throws -> MasterKeys {
        configuration.folder == nil ? MasterKeys(SymmetricKey(size: .bits256)) : try kept.loadMasterKeys()
    }

    private var kept: AuthorizationServer.Configuration { .init(dataDirectory: configuration.folder?.path() ?? "") }

    private var phonesFolder: URL {
        configuration.folder?.appending(path: "phones", directoryHint: .isDirectory)
            ?? URL.temporaryDirectory.appending(path: "countersign-phones-\(UUID().uuidString)", directoryHint: .isDirectory)
    }

}

private struct ServerClock: WallClock {
    let clock: SandboxClock

    var now: Date { clock.now }

    func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }
}

extension SandboxClock {
    /// Waits until the clock has advanced by a duration. With a skipping clock, waits in real time and does not advance the clock. Throws
    /// `CancellationError` if the task is cancelled.
    func sleep(for duration: Duration) async throws {
        let parts = duration.components
        let seconds = TimeInterval(parts.seconds) + TimeInterval(parts.attoseconds) * 1e-18
        // The server's own periodic tasks must not advance a skipping clock.
        guard mode == .skipping else { return try await sleep(for: seconds) }
        try await Task.sleep(for: .seconds(min(seconds, 365 * 86_400)), clock: .continuous)
    }
}
