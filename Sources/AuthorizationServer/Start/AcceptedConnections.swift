package import HummingbirdCore
package import Logging
internal import NIOConcurrencyHelpers
package import NIOCore
internal import NIOHTTP1

/// HTTP/1.1 on the connections of a server, each of which ends in good order even if nobody came to handle it.
///
/// A connection that comes at the moment in which the server stops is dropped unhandled, and NIO's channel stops the whole process when it is
/// dropped without an end.
package struct AcceptedConnections: ServerChildChannel {
    private let http: HTTP1Channel
    private let limits: Limits?

    /// How many connections an address may have, and how long a new one may be silent.
    package struct Limits: Sendable {
        let connections: ConnectionLimit
        let firstRequestTimeout: TimeAmount
    }

    /// Builds servers whose connections these are.
    ///
    /// - Parameter settings: Limits of HTTP/1.1.
    /// - Returns: The builder.
    package static func server(_ settings: HTTP1Channel.Configuration = .init()) -> HTTPServerBuilder { server(settings, limits: nil) }

    /// Builds servers that limit the connections of one address.
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
                ConnectionActivity(limits.connections, place, firstRequestTimeout: limits.firstRequestTimeout), position: .after(decoder))
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

    /// A connection, handled at most once.
    package final class Connection: ServerChildChannelValue {
        package let channel: any Channel
        /// Whether its address has too many connections.
        fileprivate let isRefused: Bool
        private let waiting: NIOLockedValueBox<HTTP1Channel.Value?>

        fileprivate init(_ channel: HTTP1Channel.Value, isRefused: Bool = false) {
            self.channel = channel.channel
            self.isRefused = isRefused
            waiting = NIOLockedValueBox(channel)
        }

        /// What is to be handled; nil from the second time on.
        fileprivate func take() -> HTTP1Channel.Value? {
            waiting.withLockedValue { channel in
                defer { channel = nil }
                return channel
            }
        }

        deinit {
            guard let channel = take() else { return }
            // Closing takes as long as the peer's socket does, and nobody is left who could wait for it.
            Task { try? await channel.executeThenClose { _, _ in } }
        }
    }
}
