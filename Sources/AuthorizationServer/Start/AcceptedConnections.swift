package import HummingbirdCore
package import Logging
internal import NIOConcurrencyHelpers
package import NIOCore
internal import NIOHTTP1

/// HTTP/1.1 connections that are always closed properly, even without a handler. A connection that arrives while the server stops is never
/// handled. NIO traps if such a channel is released without being closed.
package struct AcceptedConnections: ServerChildChannel {
    private let http: HTTP1Channel
    private let limits: Limits?

    /// The limits of accepted connections.
    package struct Limits: Sendable {
        /// The limit of connections per address.
        let connections: ConnectionLimit
        /// The maximum time until the head of a connection's first request.
        let firstRequestTimeout: TimeAmount
        /// The time in which a client must read a response.
        let answerTimeout: TimeAmount
    }

    /// Returns the builder of a server without a limit per address.
    package static func server(_ settings: HTTP1Channel.Configuration = .init()) -> HTTPServerBuilder { server(settings, limits: nil) }

    /// Returns the builder of a server that limits the connections of an address.
    static func server(_ settings: HTTP1Channel.Configuration, limits: Limits?) -> HTTPServerBuilder {
        HTTPServerBuilder { AcceptedConnections(http: HTTP1Channel(responder: $0, configuration: settings), limits: limits) }
    }

    init(http: HTTP1Channel, limits: Limits? = nil) {
        self.http = http
        self.limits = limits
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(HostRequirement(), position: .after(decoder))
            guard let limits else { return Connection(value) }
            guard let place = limits.connections.admit(channel, logger: logger) else { return Connection(value, isRefused: true) }
            try pipeline.addHandler(
                ConnectionActivity(
                    limits.connections, place, firstRequestTimeout: limits.firstRequestTimeout, answerTimeout: limits.answerTimeout),
                position: .after(decoder))
            return Connection(value)
        }
    }

    package func handle(value: Connection, logger: Logger) async {
        guard let channel = value.take() else { return }
        guard !value.isRefused else {
            try? await channel.executeThenClose { _, _ in }
            return
        }
        await http.handle(value: channel, logger: logger)
    }

    /// A connection that is handled at most once.
    package final class Connection: ServerChildChannelValue {
        package let channel: any Channel
        /// Whether the connection is closed without a response, because its address has too many connections.
        fileprivate let isRefused: Bool
        private let waiting: NIOLockedValueBox<HTTP1Channel.Value?>

        fileprivate init(_ channel: HTTP1Channel.Value, isRefused: Bool = false) {
            self.channel = channel.channel
            self.isRefused = isRefused
            waiting = NIOLockedValueBox(channel)
        }

        /// Returns the channel at the first call, then `nil`.
        fileprivate func take() -> HTTP1Channel.Value? {
            waiting.withLockedValue { channel in
                defer { channel = nil }
                return channel
            }
        }

        deinit {
            guard let channel = take() else { return }
            // Closing is asynchronous, and no caller is left that could await it.
            Task { try? await channel.executeThenClose { _, _ in } }
        }
    }
}
