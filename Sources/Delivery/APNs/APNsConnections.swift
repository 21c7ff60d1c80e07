internal import AsyncHTTPClient
internal import JOSE
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOSSL

/// The connections to the push service, one for each signing key and environment. On one connection, the service accepts tokens of only one
/// team, and limits how often the token changes. Safe from any thread or task.
final class APNsConnections: Sendable {
    private struct State {
        /// The HTTP clients by team ID and key ID.
        var clients: [[String]: HTTPClient] = [:]
        var open: [ObjectIdentifier: any Channel] = [:]
        var isShutDown = false
    }

    private let configuration: HTTPClient.Configuration
    private let state: NIOLockedValueBox<State>

    init(_ configuration: APNsSender.Configuration, tls: TLSConfiguration) {
        let state = NIOLockedValueBox(State())
        self.state = state
        self.configuration = HTTPClient.Configuration(configuration, tls: tls) { channel in
            let id = ObjectIdentifier(channel)
            state.withLockedValue { $0.open[id] = channel }
            channel.closeFuture.whenComplete { _ in state.withLockedValue { $0.open[id] = nil } }
        }
    }

    /// Returns the HTTP client of a provider; `nil` after the shutdown.
    func client(for credentials: APNsCredentials) -> HTTPClient? {
        let key = [credentials.teamID, credentials.keyID]
        return state.withLockedValue { state in
            if state.isShutDown { return nil }
            if let client = state.clients[key] { return client }
            // The client does not connect before the first request.
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            state.clients[key] = client
            return client
        }
    }

    var isShutDown: Bool { state.withLockedValue { $0.isShutDown } }

    /// Closes all connections. Requests in progress fail.
    func shutdown() async {
        let (clients, open) = state.withLockedValue { state in
            state.isShutDown = true
            defer { state.clients = [:] }
            return (Array(state.clients.values), Array(state.open.values))
        }
        await withTaskGroup(of: Void.self) { group in
            for client in clients {
                // `shutdown()` fails only after an earlier shutdown, and each client is shut down only here.
                group.addTask { try? await client.shutdown() }
            }
            // After the service's GOAWAY, async-http-client 1.37 waits until the service closes an idle connection. That may take long or
            // never happen.
            for channel in open { channel.close(promise: nil) }
        }
    }
}

extension HTTPClient.Configuration {
    fileprivate init(
        _ configuration: APNsSender.Configuration, tls: TLSConfiguration, onConnection note: @escaping @Sendable (any Channel) -> Void
    ) {
        self.init(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            // A request's deadline ends with the response head; the read timeout covers the body.
            timeout: .init(connect: TimeAmount(configuration.connectTimeout), read: TimeAmount(configuration.attemptTimeout)),
            // The service prefers long-lived connections, but middleboxes drop idle ones after about six minutes.
            connectionPool: .init(idleTimeout: .minutes(5)))
        httpVersion = .automatic
        // The sender makes its own retries and must see each failure.
        connectionPool.retryConnectionEstablishment = false
        // A trace span would contain the URL with the device token.
        tracing.tracer = nil
        let limit = max(Int(clamping: configuration.attemptTimeout / .milliseconds(1)), 1)
        http2ConnectionDebugInitializer = { channel in
            note(channel)
            return Self.limitUnacknowledged(channel, milliseconds: limit)
        }
    }

    /// Limits the time that sent data may remain unacknowledged. Otherwise a lost connection would block all attempts for about 15 minutes,
    /// until the kernel gives up.
    private static func limitUnacknowledged(_ channel: any Channel, milliseconds: Int) -> EventLoopFuture<Void> {
        #if os(Linux)
        // TCP_USER_TIMEOUT, in milliseconds.
        channel.setOption(ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: 18)), value: milliseconds)
        #else
        channel.eventLoop.makeSucceededVoidFuture()
        #endif
    }
}
