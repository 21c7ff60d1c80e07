public import Delivery
public import Foundation
public import JOSE
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOSSL

/// A push service on this machine: what Apple's is to a server, for sandboxes and tests (device-authenticator reference 9).
///
/// ```swift
/// let gateway = try await PushGateway.start(clock: clock, certificateDate: Date())
/// try gateway.trust(teamID: "TEAM123456", keyID: "KEY1234567", publicKey: key, topics: ["com.example.app"])
/// gateway.register(deviceToken: token, topic: "com.example.app", environment: .development) { push in await phone.receive(push.payload) }
/// let sender = try APNsSender(
///     .init(productionOrigin: gateway.productionOrigin, developmentOrigin: gateway.developmentOrigin,
///           additionalTrustRootsPEM: gateway.certificatePEM), logger: logger)
/// ```
///
/// It speaks the provider API over HTTP/2 and TLS, one port for each environment, and is as strict as the original about provider tokens,
/// headers, payload and device tokens. It hands what it accepts to the device's handler, keeps the newest push for a device that is out of
/// reach until it expires, remembers every push, and misbehaves when told to. It owns its connections and tasks until ``stop()``.
/// `Sendable`; safe from any thread or task.
public final class PushGateway: Sendable {
    private struct State {
        var tokens = ProviderTokenRules()
        var devices = PushDeviceRegistry()
        var faults: [PushGatewayFault] = []
        var received: [ReceivedPush] = []
        var arrivals = 0
        var arrivalWatchers: [(count: Int, signal: AsyncStream<Void>.Continuation)] = []
        var held: [AsyncStream<Void>.Continuation] = []
        /// The last stream of each connection, and the last that counts of those that have been said goodbye on.
        var lastStreams: [Int: Int] = [:]
        var goodbyes: [Int: Int] = [:]
        var listeners: [PushGatewayListener] = []
        var service: Task<Void, Never>?

        mutating func forget(connection: Int) {
            tokens.forget(connection: connection)
            // Its goodbye is remembered: a request that nobody counts any more may still be on its way.
            lastStreams[connection] = nil
        }
    }

    /// The service for production tokens, such as `https://localhost:50123`.
    public let productionOrigin: String
    /// The service for development tokens.
    public let developmentOrigin: String
    /// The certificate of its own authority, in PEM; what providers have to trust. A new one each time.
    public let certificatePEM: String
    private let clock: SandboxClock
    private let connections: NIOLockedValueBox<PushGatewayListener.Connections>
    private let state: NIOLockedValueBox<State>

    private init(
        productionPort: Int, developmentPort: Int, certificatePEM: String, clock: SandboxClock,
        connections: NIOLockedValueBox<PushGatewayListener.Connections>,
        state: NIOLockedValueBox<State>
    ) {
        productionOrigin = "https://localhost:\(productionPort)"
        developmentOrigin = "https://localhost:\(developmentPort)"
        self.certificatePEM = certificatePEM
        self.clock = clock
        self.connections = connections
        self.state = state
    }

    // MARK: - Starting and stopping

    /// Starts a gateway, which runs until it is stopped.
    ///
    /// - Parameters:
    ///   - clock: The clock by which it judges provider tokens and expiry.
    ///   - certificateDate: The real time, by which its certificate is judged.
    ///   - productionPort: The port of the production service; by default a free one.
    ///   - developmentPort: The port of the development service; by default a free one.
    /// - Returns: The gateway, listening.
    /// - Throws: If the certificate can't be made or a port is taken.
    public static func start(
        clock: SandboxClock, certificateDate: Date, productionPort: Int = 0, developmentPort: Int = 0
    ) async throws -> PushGateway {
        let certificate = try PushGatewayCertificate(now: certificateDate)
        let tls = try tls(certificate)
        let state = NIOLockedValueBox(State())
        let connections = NIOLockedValueBox(PushGatewayListener.Connections())
        let (exchanges, waiting) = AsyncStream.makeStream(of: PushExchange.self)
        var ports: [Int] = []
        for (environment, port) in [(PushEnvironment.production, productionPort), (.development, developmentPort)] {
            do {
                let listener = try await PushGatewayListener.bind(
                    environment, port: port, tls: tls, connections: connections,
                    onClose: { number in state.withLockedValue { $0.forget(connection: number) } },
                    hand: { waiting.yield($0) })
                ports.append(listener.port)
                state.withLockedValue { $0.listeners.append(listener) }
            } catch {
                for listener in state.withLockedValue({ $0.listeners }) { await listener.close() }
                throw error
            }
        }
        let gateway = PushGateway(
            productionPort: ports[0], developmentPort: ports[1], certificatePEM: certificate.authorityPEM, clock: clock,
            connections: connections, state: state)
        let service = Task {
            await withDiscardingTaskGroup { group in
                for await exchange in exchanges { group.addTask { await gateway.serve(exchange) } }
                group.cancelAll()
            }
        }
        state.withLockedValue { $0.service = service }
        return gateway
    }

    /// Stops: no more pushes are taken, held ones are not answered, connections end. Returns when the handlers have.
    public func stop() async {
        let (listeners, service) = state.withLockedValue { ($0.listeners, $0.service) }
        for listener in listeners { await listener.close() }
        service?.cancel()
        await service?.value
    }

    private static func tls(_ certificate: PushGatewayCertificate) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificatePEM.utf8)).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(certificate.keyPEM.utf8), format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["h2"]
        return try NIOSSLContext(configuration: configuration)
    }

    // MARK: - Providers and devices

    /// Lets a provider push, or changes what it may.
    ///
    /// - Parameters:
    ///   - teamID: The team that its tokens have to name (`iss`).
    ///   - keyID: The id of its signing key (`kid`).
    ///   - publicKey: The public part of that key, P-256.
    ///   - topics: The bundle ids that it may push to.
    /// - Throws: `JOSEError` if the key is no P-256 key.
    public func trust(teamID: String, keyID: String, publicKey: JSONWebKey, topics: Set<String>) throws {
        try state.withLockedValue { try $0.tokens.trust(teamID: teamID, keyID: keyID, publicKey: publicKey, topics: topics) }
    }

    /// Makes a device known, or known again.
    ///
    /// - Parameters:
    ///   - deviceToken: Its token, in lower-case hexadecimal.
    ///   - topic: The bundle id of the app on it.
    ///   - environment: The service that the token belongs to; the other one doesn't know it.
    ///   - handler: Handed each push, after the provider got its answer; many at once. Cancelled by ``stop()``.
    public func register(
        deviceToken: String, topic: String, environment: PushEnvironment, handler: @escaping @Sendable (ReceivedPush) async -> Void
    ) {
        state.withLockedValue { $0.devices.register(token: deviceToken, topic: topic, environment: environment, handler: handler) }
    }

    /// Removes the app from a device: from now on its token is answered with 410 and the time of this call.
    ///
    /// - Parameter deviceToken: Its token.
    public func unregister(deviceToken: String) {
        let now = clock.now
        state.withLockedValue { $0.devices.unregister(token: deviceToken, at: now) }
    }

    /// Moves a device in or out of reach. Out of reach, the newest push that has not expired is kept for it, and handed to it on return.
    ///
    /// - Parameters:
    ///   - isReachable: Whether it can be reached from now on.
    ///   - deviceToken: Its token.
    public func setReachable(_ isReachable: Bool, deviceToken: String) async {
        let now = clock.now
        let due = state.withLockedValue { $0.devices.setReachable(isReachable, token: deviceToken, now: now) }
        for (push, handler) in due { await handler(push) }
    }

    // MARK: - What it saw, and what it does wrong

    /// The pushes that were answered, refused ones too, in the order of their answers.
    public var received: [ReceivedPush] { state.withLockedValue { $0.received } }

    /// How many connections there have been.
    public var connectionCount: Int { connections.withLockedValue { $0.count } }

    /// Waits until so many pushes have arrived since the start, whether or not they were answered.
    ///
    /// - Parameter count: How many.
    public func waitForArrivals(_ count: Int) async {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self)
        let isDue = state.withLockedValue { state in
            if state.arrivals >= count { return true }
            state.arrivalWatchers.append((count, signal))
            return false
        }
        if isDue { return }
        for await _ in signals {}
    }

    /// Makes the gateway misbehave at the next pushes; each fault is used once, in order.
    ///
    /// - Parameters:
    ///   - fault: What it does wrong.
    ///   - times: At how many pushes.
    public func misbehave(_ fault: PushGatewayFault, times: Int = 1) {
        state.withLockedValue { $0.faults += Array(repeating: fault, count: max(times, 0)) }
    }

    /// Goes on with the pushes that are held.
    public func releaseHeld() {
        let held = state.withLockedValue { state in
            defer { state.held = [] }
            return state.held
        }
        for signal in held { signal.finish() }
    }

    /// Deletes the received pushes and all pending faults, and releases the pushes that are held.
    func forget() {
        state.withLockedValue { state in
            state.faults = []
            state.received = []
        }
        releaseHeld()
    }

    // MARK: - Serving

    private func serve(_ exchange: PushExchange) async {
        guard isStillTaken(exchange.request) else { return }
        let fault = noteArrival()
        switch fault {
        case .stallAnswer(let status):
            await exchange.beginAnswer(status: status)
            return
        case .dropConnection:
            // It may have ended by itself, which is as good.
            try? await exchange.connection.close().get()
            return
        case .goAway(answering: false):
            await sayGoodbye(exchange, isTaken: false)
            return
        case .delay(let seconds):
            guard (try? await clock.sleep(for: seconds)) != nil else { return }
        case .hold:
            await waitForRelease()
            if Task.isCancelled { return }
        case .answer, .answerBody, .duplicate, .goAway, nil: break
        }
        let answer = Self.answer(of: fault) ?? check(exchange.request)
        let push = note(exchange.request, answer)
        // Kept for a device out of reach before the answer: the provider's next push is the newer one, and reach may change once it knows.
        let now = clock.now
        let handler = answer.status == 200 ? state.withLockedValue { $0.devices.handler(for: push, now: now) } : nil
        await exchange.answer(answer, id: exchange.request.header("apns-id") ?? Self.nilID)
        if case .goAway = fault { await sayGoodbye(exchange, isTaken: true) }
        guard let handler else { return }
        for _ in 0..<(fault == .duplicate ? 2 : 1) { await handler(push) }
    }

    /// What a push without an id is called; nobody asks for it again.
    private static let nilID = "00000000-0000-0000-0000-000000000000"

    private func noteArrival() -> PushGatewayFault? {
        let (fault, due) = state.withLockedValue { state in
            state.arrivals += 1
            let due = state.arrivalWatchers.filter { $0.count <= state.arrivals }
            state.arrivalWatchers.removeAll { $0.count <= state.arrivals }
            return (state.faults.isEmpty ? nil : state.faults.removeFirst(), due)
        }
        for watcher in due { watcher.signal.finish() }
        return fault
    }

    /// Whether a request may be answered: not if it came after a goodbye, since the provider counts it as not taken.
    private func isStillTaken(_ request: PushGatewayRequest) -> Bool {
        state.withLockedValue { state in
            if let last = state.goodbyes[request.connection], request.stream > last { return false }
            state.lastStreams[request.connection] = max(state.lastStreams[request.connection] ?? 0, request.stream)
            return true
        }
    }

    private func sayGoodbye(_ exchange: PushExchange, isTaken: Bool) async {
        let request = exchange.request
        let last = state.withLockedValue { state in
            let last = isTaken ? state.lastStreams[request.connection] ?? request.stream : request.stream - 2
            state.goodbyes[request.connection] = max(last, 0)
            return max(last, 0)
        }
        // Where the connection has ended already, there is nobody to say it to.
        try? await exchange.goAway(last: last)
    }

    private func waitForRelease() async {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self)
        state.withLockedValue { $0.held.append(signal) }
        for await _ in signals {}
    }

    private static func answer(of fault: PushGatewayFault?) -> PushGatewayAnswer? {
        switch fault {
        case .answer(let status, let reason, let headers, let timestamp):
            PushGatewayAnswer(status: status, reason: reason, headers: headers, timestamp: timestamp)
        case .answerBody(let status, let body): PushGatewayAnswer(status: status, body: body)
        default: nil
        }
    }

    private func check(_ request: PushGatewayRequest) -> PushGatewayAnswer {
        let rules = PushRequestRules(request: request)
        if let refusal = rules.refusalOfAddress() { return refusal }
        let now = clock.now
        return state.withLockedValue { state in
            switch state.tokens.check(request.header("authorization"), connection: request.connection, now: now) {
            case .failure(let refusal): return refusal.answer
            case .success(let topics):
                return rules.refusal(allowing: topics)
                    ?? state.devices.refusal(
                        token: request.deviceToken ?? "", topic: request.header("apns-topic") ?? "", environment: request.environment)
                    ?? PushGatewayAnswer(status: 200)
            }
        }
    }

    private func note(_ request: PushGatewayRequest, _ answer: PushGatewayAnswer) -> ReceivedPush {
        let push = ReceivedPush(
            environment: request.environment, deviceToken: request.deviceToken ?? "", headers: request.headersByName, payload: request.body,
            connection: request.connection, status: answer.status, reason: answer.reason)
        state.withLockedValue { $0.received.append(push) }
        return push
    }
}
