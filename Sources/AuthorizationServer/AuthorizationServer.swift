internal import AuthnAPI
package import Delivery
package import HTTPTypes
package import IdentityCore
internal import JOSE
package import Logging
internal import NIOConcurrencyHelpers
internal import NIOPosix
internal import OAuthEndpoints
package import ServerHTTP
internal import ServiceLifecycle
internal import SignInPages

/// The HTTP server of an organization. It serves:
/// - the OAuth endpoints of the org server and of the custom authorization servers: discovery, `keys`, `token`, `challenge`,
///   `primary-authenticate`, `bc/authorize`, `userinfo`, `introspect`, `revoke`, `authorize`, `logout`, `device/authorize`
/// - the hosted pages with `/activate`
/// - the classic sign-in API
/// - the endpoints of authenticator devices
/// - the system log of the management API
/// - `/health`
///
/// Translates between HTTP and `Engine`, which makes every decision. Safe from any task; copies share their state.
///
/// ```swift
/// let server = AuthorizationServer(engine: engine, configuration: .init(port: 0), logger: logger)
/// async let running: Void = server.run()
/// let port = try await server.boundPort
/// ```
package struct AuthorizationServer: Service, Redacted {
    package typealias Responder = @Sendable (ServerRequest) async -> ServerResponse
    /// Middleware that sees every request. It responds by itself, or calls `next` and may change the response and its
    /// ``ServerResponse/delivery``.
    package typealias Interceptor = @Sendable (_ request: ServerRequest, _ next: Responder) async -> ServerResponse

    private let engine: Engine
    private let configuration: Configuration
    private let clock: any WallClock
    private let logger: Logger
    private let pipeline: RequestPipeline
    private let identifiers = RequestIdentifiers(seed: .random(in: .min ... .max))
    private let port = BoundPort()
    let readiness: Readiness
    /// The certificate while the server runs with TLS; otherwise `nil`.
    private let certificate = NIOLockedValueBox<CurrentCertificate?>(nil)
    private let pushes: PushDelivery?
    private let logouts: LogoutDelivery?
    private let messages: MessageDelivery
    /// Pending long polls of the token endpoint; `nil` if polls are answered at once.
    let polls: HeldPolls?

    /// Creates a server that does not listen yet. The senders are not shut down with the server.
    /// - Parameters:
    ///   - engine: The engine. Apply an organization to it before the first request, or before ``Readiness/setPrepared()``.
    ///   - pushSender: Sends pushes during ``run()`` or ``deliverPushes()``. With `nil`, devices fetch their pending challenges.
    ///   - logoutSender: Sends back-channel logouts during ``run()`` or ``deliverLogouts()``. With `nil`, logouts wait in the store.
    ///   - messageSender: Sends mails, texts and calls during ``run()`` or ``deliverPushes()``. With `nil`, the system log records each
    ///     message as not delivered.
    ///   - holdsPolls: Whether polls of the token endpoint wait for the user's decision. `nil` means only with the system clock, because a
    ///     manual test clock would never end the waits.
    ///   - isPrepared: With `false`, the server answers 503 and does no maintenance until ``Readiness/setPrepared()``.
    ///   - interceptor: The middleware for the sandbox's own paths and fault injection; `nil` for none.
    package init(
        engine: Engine, configuration: Configuration = Configuration(), clock: any WallClock = SystemWallClock(),
        logger: Logger = Logger(label: "countersign"), pushSender: (any PushSender)? = nil,
        logoutSender: (any LogoutSender)? = nil, messageSender: (any MessageSender)? = nil, holdsPolls: Bool? = nil,
        isPrepared: Bool = true, interceptor: Interceptor? = nil
    ) {
        (self.engine, self.configuration, self.clock, self.logger) = (engine, configuration, clock, logger)
        readiness = Readiness(isPrepared: isPrepared)
        pushes = pushSender.map { [identifiers] in
            PushDelivery(sender: $0, clock: clock, identifiers: identifiers, logger: logger)
        }
        messages = MessageDelivery(
            sender: messageSender ?? MessageRouter(mail: nil, telephone: nil), look: MessageWriter.Look(configuration.branding),
            clock: clock, logger: logger)
        let signals = SignalMetrics(logger: logger)
        engine.observeSignals { signals.record($0) }
        let events = EventMetrics()
        engine.observeEvents { events.record($0, $1) }
        logouts = logoutSender.map { [identifiers] in
            LogoutDelivery(sender: $0, clock: clock, identifiers: identifiers, logger: logger)
        }
        let holdsPolls = holdsPolls ?? (clock is SystemWallClock)
        let limits = HeldPolls.Limits(configuration.limits)
        polls = holdsPolls && limits.admitAny ? HeldPolls(engine: engine, clock: clock, limits: limits) : nil
        // An engine has one courier. If several servers share an engine, the server created last delivers for all of them.
        engine.courier = Deliveries(pushes: pushes, messages: messages, logouts: logouts)
        pipeline = RequestPipeline(
            engine: engine, interceptor: interceptor,
            pages: PageWriter(
                transport: BrowserTransport(isConfigured: configuration.isReachedByTLS), branding: configuration.branding, clock: clock),
            polls: polls, readiness: readiness, clock: clock, logger: logger)
    }

    /// Listens and responds until the task is cancelled or the service group shuts down gracefully, which finishes the requests in
    /// progress. Also maintains the signing keys and the store. Call it once per server.
    /// - Throws: ``ConfigurationError`` if the certificate or its key cannot be read; ``PortError`` if the port cannot be bound.
    package func run() async throws {
        let certificate: CurrentCertificate?
        do { certificate = try configuration.tls.map(CurrentCertificate.init) } catch {
            port.fail(with: error)
            throw error
        }
        self.certificate.withLockedValue { $0 = certificate }
        let listener = Listener(
            configuration: configuration, logger: logger, pipeline: pipeline, clock: clock, identifiers: identifiers, port: port,
            certificate: certificate)
        let maintenance = Maintenance(
            engine: engine, clock: clock, logger: logger, identifiers: identifiers, interval: configuration.maintenanceInterval,
            readiness: readiness)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await maintenance.run() }
                if certificate != nil {
                    group.addTask { while (try? await clock.sleep(for: .seconds(60))) != nil { await reloadCertificate() } }
                }
                // Returns shortly after the last request, when the queue is empty.
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

    /// Reads the certificate and its key again, and uses them for new connections. If a file is unusable, the log reports it, and the
    /// previous certificate stays in use. ``run()`` calls this function every minute.
    package func reloadCertificate() async {
        guard let certificate = certificate.withLockedValue({ $0 }) else { return }
        do {
            // Reads files, so not on a cooperative thread.
            guard try await NIOThreadPool.singleton.runIfActive({ try certificate.reload() }) else { return }
            logger.notice("new TLS certificate")
        } catch {
            logger.error("the changed TLS certificate is not used", metadata: ["error": .string("\(error)")])
        }
    }

    /// Reports to load balancers that the server is not ready, and waits for the configured `shutdownDelay`, so that they notice. The
    /// server still responds meanwhile. Call it before the graceful shutdown. Returns early if the task is cancelled.
    package func drain() async {
        readiness.drain()
        guard configuration.shutdownDelay > .zero else { return }
        logger.notice("stopping", metadata: ["delay": .stringConvertible(configuration.shutdownDelay)])
        try? await clock.sleep(for: configuration.shutdownDelay)
    }

    /// Sends pushes and messages until the task is cancelled. Call it only if ``run()`` is not used, and only once per server.
    package func deliverPushes() async {
        async let sending: Void = messages.run()
        await pushes?.run()
        await sending
    }

    /// Sends back-channel logouts until the task is cancelled. Call it only if ``run()`` is not used, and only once per server.
    package func deliverLogouts() async { await logouts?.run(engine, readiness) }

    /// Resets the counters in memory, after another server of the same store has emptied the store.
    package func forgetCounts() async { await engine.forgetCounts() }

    /// Ends all sessions of a user and sends back-channel logouts to the applications that registered for them.
    /// - Parameter revokesGrants: Whether the user's tokens are revoked too; otherwise they stay valid until they expire.
    package func signOutEverywhere(userID: String, revokesGrants: Bool = true, from address: String? = nil) async throws {
        let context = RequestContext(now: clock.now, requestID: identifiers.next(), address: address)
        try await engine.signOutEverywhere(userID: userID, revokesGrants: revokesGrants, context: context)
    }

    /// Mails the activation link to a user that an administrator created. Returns `false` if there is no such user or the user can already
    /// sign in.
    /// - Parameter lifetime: Seconds until the link expires, 60 to 2,592,000.
    /// - Throws: `CodeRefusal` if the user has no mail address or a message limit was reached; `StoreError` if the store failed.
    package func welcome(
        userID: String, lifetime: Double = Engine.activationTokenLifetime, from address: String? = nil
    ) async throws -> Bool {
        let context = RequestContext(now: clock.now, requestID: identifiers.next(), address: address)
        return try await engine.sendActivation(toUser: userID, lifetime: lifetime, context: context)
    }

    /// The port on which the server listens; waits until the port is bound. Throws the error of ``run()``, or `CancellationError` if
    /// ``run()`` has ended.
    package var boundPort: Int {
        get async throws { try await port.value }
    }

    /// Responds to a request in process, through the same pipeline as over a port. ``ServerResponse/Delivery/truncated(after:)`` truncates
    /// the returned body.
    /// - Throws: ``ConnectionClosed`` where the server would close the connection without a response.
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

/// The error for a connection that the server closes on purpose: after a dropped or truncated response, or a body over the size limit.
package struct ConnectionClosed: Error, Sendable {}
