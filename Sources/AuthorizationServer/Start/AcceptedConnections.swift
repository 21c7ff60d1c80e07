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
    private let limit: ConnectionLimit?

    /// Builds servers whose connections these are.
    ///
    /// - Parameter settings: Limits of HTTP/1.1.
    /// - Returns: The builder.
    package static func server(_ settings: HTTP1Channel.Configuration = .init()) -> HTTPServerBuilder { server(settings, limit: nil) }

    /// Builds servers that limit the connections of one address.
    static func server(_ settings: HTTP1Channel.Configuration, limit: ConnectionLimit?) -> HTTPServerBuilder {
        HTTPServerBuilder { AcceptedConnections(http: HTTP1Channel(responder: $0, configuration: settings), limit: limit) }
    }

    init(http: HTTP1Channel, limit: ConnectionLimit? = nil) {
        self.http = http
        self.limit = limit
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(
                HostRequirement(), position: .after(pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)))
            return Connection(value)
        }
    }

    package func handle(value: Connection, logger: Logger) async {
        guard let channel = value.take() else { return }
        guard let limit else { return await http.handle(value: channel, logger: logger) }
        guard let place = limit.admit(channel.channel.remoteAddress?.ipAddress, logger: logger) else {
            try? await channel.executeThenClose { _, _ in }
            return
        }
        defer { limit.release(place) }
        await http.handle(value: channel, logger: logger)
    }

    /// A connection, handled at most once.
    package final class Connection: ServerChildChannelValue {
        package let channel: any Channel
        private let waiting: NIOLockedValueBox<HTTP1Channel.Value?>

        fileprivate init(_ channel: HTTP1Channel.Value) {
            self.channel = channel.channel
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
