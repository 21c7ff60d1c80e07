public import Delivery
public import Foundation
public import JOSE
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOSSL

/// A local replacement of Apple's push service, for sandboxes and tests (Documentation/Protocol/Devices.md §9).
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
/// The gateway implements the provider API over HTTP/2 and TLS, with one port for each environment. It checks provider tokens, headers,
/// payloads and device tokens as strictly as Apple's service. Accepted pushes go to the device's handler. For an unreachable device, the
/// gateway keeps the newest push until the push expires. It records every push and can simulate faults. Safe from any thread or task; its
/// connections and tasks end with ``stop()``.
public final class PushGateway: Sendable {
    private struct State {
        var tokens = ProviderTokenRules()
        var devices = PushDeviceRegistry()
        var faults: [PushGatewayFault] = []
        var received: [ReceivedPush] = []
        var arrivals = 0
        var arrivalWatchers: [(count: Int, signal: AsyncStream<Void>.Continuation)] = []
        var held: [AsyncStream<Void>.Continuation] = []
        /// The last stream of each open connection, by the connection's number.
        var lastStreams: [Int: Int] = [:]
        /// The last stream that counts as processed, by the number of a connection that received a GOAWAY.
        var goodbyes: [Int: Int] = [:]
        var listeners: [PushGatewayListener] = []
        var service: Task<Void, Never>?

        mutating func forget(connection: Int) {
            tokens.forget(connection: connection)
            // The GOAWAY is remembered, because an ignored request may still arrive.
            lastStreams[connection] = nil
        }
    }

    /// The origin of the service for production tokens, such as `https://localhost:50123`.
    public let productionOrigin: String
    /// The origin of the service for development tokens.
    public let developmentOrigin: String
    /// The certificate of the gateway's own authority in PEM, which providers must trust. Each gateway has a new authority.
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

    /// Starts a gateway.
    /// - Parameters:
    ///   - clock: The clock for provider tokens and expiry.
    ///   - certificateDate: The real time, for the gateway's certificate.
    ///   - productionPort: The port of the production service; 0 for a free port.
    ///   - developmentPort: The port of the development service; 0 for a free port.
    /// - Returns: The listening gateway.
    /// - Throws: An error if the certificate cannot be created or a port is in use.
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

    /// Stops the gateway: it accepts no more pushes, does not answer held pushes, and closes its connections. Returns after the handlers
    /// have ended.
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

    /// Allows a provider to push, or changes its permissions.
    /// - Parameters:
    ///   - teamID: The team in the provider's tokens (`iss`).
    ///   - keyID: The ID of the provider's signing key (`kid`).
    ///   - publicKey: The public part of the signing key, P-256.
    ///   - topics: The bundle IDs that the provider may push to.
    /// - Throws: `JOSEError` if the key is not a P-256 key.
    public func trust(teamID: String, keyID: String, publicKey: JSONWebKey, topics: Set<String>) throws {
        try state.withLockedValue { try $0.tokens.trust(teamID: teamID, keyID: keyID, publicKey: publicKey, topics: topics) }
    }

    /// Registers a device, or registers it again.
    /// - Parameters:
    ///   - deviceToken: The device's token, in lower-case hexadecimal.
    ///   - topic: The bundle ID of the app.
    ///   - environment: The service that the token belongs to; the other service does not know it.
    ///   - handler: Receives each push after the response to the provider was sent. It may run concurrently, and is cancelled by
    ///     ``stop()``.
    public func register(
        deviceToken: String, topic: String, environment: PushEnvironment, handler: @escaping @Sendable (ReceivedPush) async -> Void
    ) {
        state.withLockedValue { $0.devices.register(token: deviceToken, topic: topic, environment: environment, handler: handler) }
    }

    /// Removes the app from a device. From now on, the gateway answers pushes to the device's token with 410 and the time of this call.
    public func unregister(deviceToken: String) {
        let now = clock.now
        state.withLockedValue { $0.devices.unregister(token: deviceToken, at: now) }
    }

    /// Changes whether a device is reachable. While it is unreachable, the gateway keeps the newest unexpired push, and delivers it when
    /// the device is reachable again.
    public func setReachable(_ isReachable: Bool, deviceToken: String) async {
        let now = clock.now
        let due = state.withLockedValue { $0.devices.setReachable(isReachable, token: deviceToken, now: now) }
        for (push, handler) in due { await handler(push) }
    }

    /// The answered pushes, including refused pushes, in the order of their responses.
    public var received: [ReceivedPush] { state.withLockedValue { $0.received } }

    /// The number of connections since the start.
    public var connectionCount: Int { connections.withLockedValue { $0.count } }

    /// Waits until a number of pushes have arrived since the start, whether or not they were answered.
    /// - Parameter count: The total number of pushes.
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

    /// Adds a fault for the next pushes. Faults take effect in the order in which they were added.
    /// - Parameter times: The number of pushes that the fault affects.
    public func misbehave(_ fault: PushGatewayFault, times: Int = 1) {
        state.withLockedValue { $0.faults += Array(repeating: fault, count: max(times, 0)) }
    }

    /// Continues to process the pushes that the fault ``PushGatewayFault/hold`` holds.
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

    private func serve(_ exchange: PushExchange) async {
        guard isStillTaken(exchange.request) else { return }
        let fault = noteArrival()
        switch fault {
        case .stallAnswer(let status):
            await exchange.beginAnswer(status: status)
            return
        case .dropConnection:
            // Fails only if the connection is already closed.
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
        // An unreachable device's push is stored before the response. After the response, the provider may send a newer push or the device
        // may become reachable.
        let now = clock.now
        let handler = answer.status == 200 ? state.withLockedValue { $0.devices.handler(for: push, now: now) } : nil
        await exchange.answer(answer, id: exchange.request.header("apns-id") ?? Self.nilID)
        if case .goAway = fault { await sayGoodbye(exchange, isTaken: true) }
        guard let handler else { return }
        for _ in 0..<(fault == .duplicate ? 2 : 1) { await handler(push) }
    }

    /// The ID in the response to a push without an ID.
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

    /// Whether a request may be answered. After a GOAWAY, the provider counts new requests as not processed.
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
        // Fails only if the connection is already closed.
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
