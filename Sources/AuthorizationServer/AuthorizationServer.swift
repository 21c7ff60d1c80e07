internal import AuthnAPI
package import Delivery
package import HTTPTypes
package import IdentityCore
internal import JOSE
package import Logging
internal import OAuthEndpoints
package import ServerHTTP
internal import ServiceLifecycle
internal import SignInPages

/// The HTTP front doors of an organization: discovery, `keys`, `token`, `challenge`, `primary-authenticate`, `bc/authorize`, `userinfo`,
/// `introspect`, `revoke`, `authorize`, `logout`, `device/authorize` of the org server and of custom servers, the hosted pages with
/// `/activate`, the endpoints of authenticator devices, and `/health`.
///
/// It translates between HTTP and `Engine` and decides nothing. A service: ``run()`` listens until the
/// task is cancelled or the service group shuts down gracefully, which finishes the requests under way. A value, safe from any
/// task; copies are the same server.
///
/// ```swift
/// let server = AuthorizationServer(engine: engine, configuration: .init(port: 0), logger: logger)
/// async let running: Void = server.run()
/// let port = try await server.boundPort
/// ```
package struct AuthorizationServer: Service, Redacted {
    /// Answers a request.
    package typealias Responder = @Sendable (ServerRequest) async -> ServerResponse
    /// Stands before the front doors and sees every request: it answers by itself, or passes the request on and may change the
    /// answer and its ``ServerResponse/delivery``.
    package typealias Interceptor = @Sendable (_ request: ServerRequest, _ next: Responder) async -> ServerResponse

    private let engine: Engine
    private let configuration: Configuration
    private let clock: any WallClock
    private let logger: Logger
    private let pipeline: RequestPipeline
    private let identifiers = RequestIdentifiers(seed: .random(in: .min ... .max))
    private let port = BoundPort()
    private let pushes: PushDelivery?
    private let logouts: LogoutDelivery?
    private let messages: MessageDelivery
    /// The polls that wait for a decision; `nil` if the server answers all at once.
    let polls: HeldPolls?

    /// Makes a server that does not listen yet.
    ///
    /// - Parameters:
    ///   - engine: Decides. An organization must have been applied to it before requests can be answered.
    ///   - configuration: Where to listen, and limits.
    ///   - clock: The time of day, in everything that the server says and decides.
    ///   - logger: Where requests and events are logged; its level is left as it is.
    ///   - pushSender: Sends pushes to devices while the server runs, or ``deliverPushes()``; nil sends none, and devices fetch what waits
    ///     for them. It is not shut down with the server.
    ///   - logoutSender: Tells applications that sessions are over, while the server runs; nil tells nobody. It is not shut down with the
    ///     server.
    ///   - messageSender: Sends mails, texts and calls while the server runs, or ``deliverPushes()``; nil sends none, which the system log
    ///     tells of each. It is not shut down with the server.
    ///   - holdsPolls: Whether polls of the token endpoint wait for the user's decision; nil if they do on the system's clock only. A clock
    ///     that a test moves by hand would not end the waits.
    ///   - interceptor: Stands before the front doors; for the sandbox's own paths and its faults.
    package init(
        engine: Engine, configuration: Configuration = Configuration(), clock: any WallClock = SystemWallClock(),
        logger: Logger = Logger(label: "countersign"), pushSender: (any PushSender)? = nil,
        logoutSender: (any LogoutSender)? = nil, messageSender: (any MessageSender)? = nil, holdsPolls: Bool? = nil,
        interceptor: Interceptor? = nil
    ) {
        self.engine = engine
        self.configuration = configuration
        self.clock = clock
        self.logger = logger
        pushes = pushSender.map { [identifiers] in
            PushDelivery(sender: $0, engine: engine, clock: clock, identifiers: identifiers, logger: logger)
        }
        messages = MessageDelivery(
            sender: messageSender ?? MessageRouter(mail: nil, telephone: nil), look: MessageWriter.Look(configuration.branding),
            engine: engine, clock: clock,
            logger: logger)
        let signals = SignalMetrics(logger: logger)
        engine.observeSignals { signals.record($0) }
        logouts = logoutSender.map { LogoutDelivery(sender: $0, logger: logger) }
        let holdsPolls = holdsPolls ?? (clock is SystemWallClock)
        let limits = HeldPolls.Limits(configuration.limits)
        polls = holdsPolls && limits.admitAny ? HeldPolls(engine: engine, clock: clock, limits: limits) : nil
        pipeline = RequestPipeline(
            engine: engine, courier: Deliveries(pushes: pushes, messages: messages, logouts: logouts), interceptor: interceptor,
            pages: PageWriter(
                transport: BrowserTransport(isConfigured: configuration.isReachedByTLS), branding: configuration.branding, clock: clock),
            polls: polls, clock: clock, logger: logger)
    }

    /// Listens and answers until the task is cancelled or the service group shuts down gracefully; keeps the signing keys and the
    /// store in order meanwhile. Once per server.
    ///
    /// - Throws: ``ConfigurationError`` if the certificate or its key cannot be read; ``PortError`` if the port cannot be bound.
    package func run() async throws {
        let listener = Listener(
            configuration: configuration, logger: logger, pipeline: pipeline, clock: clock, identifiers: identifiers, port: port)
        let maintenance = Maintenance(
            engine: engine, clock: clock, logger: logger, identifiers: identifiers, interval: configuration.maintenanceInterval)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await maintenance.run() }
                // Ends by itself a little after the last request, when what was taken is sent.
                async let delivering: Void = deliverPushes()
                async let telling: Void = deliverLogouts()
                try await configuration.portUse.binding {
                    try await withGracefulShutdownHandler {
                        try await listener.run()
                    } onGracefulShutdown: { [polls] in
                        polls?.shutdown()
                    }
                }
                polls?.shutdown()
                pushes?.shutdown()
                messages.shutdown()
                logouts?.shutdown()
                await delivering
                await telling
                group.cancelAll()
            }
        } catch {
            port.fail(with: error)
            throw error
        }
        port.fail(with: CancellationError())
    }

    /// Sends pushes and messages until the task is cancelled; part of ``run()``, and for servers that answer in process only. Once per
    /// server.
    package func deliverPushes() async {
        async let sending: Void = messages.run()
        await pushes?.run()
        await sending
    }

    /// Tells applications that sessions are over until the task is cancelled; part of ``run()``, and for servers that answer in process
    /// only. Once per server.
    package func deliverLogouts() async { await logouts?.run() }

    /// Signs a person out everywhere: ends their sessions, revokes their grants, and tells the applications that want to hear of it.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - revokesGrants: Whether the tokens that the person's apps have end as well; else they stay good for as long as they were.
    ///   - address: From where it is asked, for the log.
    /// - Throws: `StoreError` if the store failed.
    package func signOutEverywhere(userID: String, revokesGrants: Bool = true, from address: String? = nil) async throws {
        let context = RequestContext(now: clock.now, requestID: identifiers.next(), address: address)
        logouts?.deliver(try await engine.signOutEverywhere(userID: userID, revokesGrants: revokesGrants, context: context))
    }

    /// Sends a person for whom an account was made the mail by which they set it up.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - lifetime: Seconds that the link is good for, 60 to 2,592,000.
    ///   - address: From where it is asked, for the log.
    /// - Returns: Whether it is on its way; false if there is no such user, or they can sign in already.
    /// - Throws: `CodeRefusal` if they have no address, or were sent too much; `StoreError` if the store failed.
    package func welcome(
        userID: String, lifetime: Double = Engine.activationTokenLifetime, from address: String? = nil
    ) async throws -> Bool {
        let context = RequestContext(now: clock.now, requestID: identifiers.next(), address: address)
        guard let mail = try await engine.activationMail(forUser: userID, lifetime: lifetime, context: context) else { return false }
        messages.deliver([mail], origin: try await engine.snapshot().origin)
        return true
    }

    /// The port that the server listens on; waits until it does.
    ///
    /// - Throws: What made ``run()`` fail, or `CancellationError`.
    package var boundPort: Int {
        get async throws { try await port.value }
    }

    /// Answers a request in process: the same path through the server as over a port, without one.
    ///
    /// - Parameters:
    ///   - request: Method, path and headers.
    ///   - body: The whole body; empty for none.
    ///   - address: The peer's address, for limits and logs.
    /// - Returns: The answer's head and body. One that ``ServerResponse/Delivery/truncated(after:)`` cuts is returned cut.
    /// - Throws: ``ConnectionClosed`` where the connection would have been closed instead of an answer.
    package func respond(
        to request: HTTPRequest, body: [UInt8] = [], from address: String? = "127.0.0.1"
    ) async throws -> (head: HTTPResponse, body: [UInt8]) {
        let context = RequestContext(
            now: clock.now, requestID: identifiers.next(), address: address, userAgent: request.headerFields[.userAgent],
            deviceToken: request.headerFields.deviceToken)
        let isTooLarge = body.count > configuration.limits.bodyBytes
        var received = ServerRequest(head: request, body: isTooLarge ? [] : body, context: context)
        received.isTooLarge = isTooLarge
        let response = await pipeline.respond(to: received)
        let head = HTTPResponse(status: response.status, headerFields: response.headers)
        switch response.delivery {
        case .whole:
            var whole = response.body
            try await response.stream? { whole += $0 }
            return (head, whole)
        case .truncated(let count): return (head, Array(response.body.prefix(count)))
        case .dropped: throw ConnectionClosed()
        }
    }
}

/// The connection was closed on purpose: an answer was to be dropped or cut, or a body was too large to be read to its end.
package struct ConnectionClosed: Error, Sendable {}
