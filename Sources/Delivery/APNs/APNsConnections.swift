internal import AsyncHTTPClient
internal import JOSE
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOSSL

/// The connections to the push service: for each signing key one to each environment, since the service takes the tokens of one team only on a
/// connection, and counts how often they change.
///
/// `Sendable`; safe from any thread or task.
final class APNsConnections: Sendable {
    private struct State {
        /// By team and key id.
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

    /// What sends the requests of a provider; nil after the end.
    func client(for credentials: APNsCredentials) -> HTTPClient? {
        let key = [credentials.teamID, credentials.keyID]
        return state.withLockedValue { state in
            if state.isShutDown { return nil }
            if let client = state.clients[key] { return client }
            // It only takes the configuration; it connects when it has something to send.
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            state.clients[key] = client
            return client
        }
    }

    /// Whether the end has come.
    var isShutDown: Bool { state.withLockedValue { $0.isShutDown } }

    /// Ends all connections; requests on them fail.
    func shutdown() async {
        let (clients, open) = state.withLockedValue { state in
            state.isShutDown = true
            defer { state.clients = [:] }
            return (Array(state.clients.values), Array(state.open.values))
        }
        await withTaskGroup(of: Void.self) { group in
            for client in clients {
                // It fails only where it was shut down before, which nobody else can.
                group.addTask { try? await client.shutdown() }
            }
            // A connection that was idle when the service said goodbye is closed by the service alone (async-http-client 1.37), which may take
            // its time, or not do it.
            for channel in open { channel.close(promise: nil) }
        }
    }
}

extension HTTPClient.Configuration {
    /// How a client has to be set up for the push service.
    fileprivate init(
        _ configuration: APNsSender.Configuration, tls: TLSConfiguration, onConnection note: @escaping @Sendable (any Channel) -> Void
    ) {
        self.init(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            // The deadline of a request ends with the head of the answer; this is for the body.
            timeout: .init(connect: TimeAmount(configuration.connectTimeout), read: TimeAmount(configuration.attemptTimeout)),
            // The service wants to see connections that stay; middleboxes forget those that are silent for some six minutes.
            connectionPool: .init(idleTimeout: .minutes(5)))
        httpVersion = .automatic
        // The sender's own pauses are the ones that count, and it wants to hear of each failure.
        connectionPool.retryConnectionEstablishment = false
        // A span would hold the URL, and with it the device token.
        tracing.tracer = nil
        let limit = max(Int(clamping: configuration.attemptTimeout / .milliseconds(1)), 1)
        http2ConnectionDebugInitializer = { channel in
            note(channel)
            return Self.limitUnacknowledged(channel, milliseconds: limit)
        }
    }

    /// A connection whose peer has vanished would swallow every try until the kernel gives up, after a quarter of an hour.
    private static func limitUnacknowledged(_ channel: any Channel, milliseconds: Int) -> EventLoopFuture<Void> {
        #if os(Linux)
        // TCP_USER_TIMEOUT: how long sent data may remain unacknowledged.
        channel.setOption(ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: 18)), value: milliseconds)
        #else
        channel.eventLoop.makeSucceededVoidFuture()
        #endif
    }
}
