internal import AsyncHTTPClient
internal import NIOCore
internal import NIOSSL

extension HTTPClient.Configuration {
    /// How the client has to be set up for the push service.
    init(_ configuration: APNsSender.Configuration, tls: TLSConfiguration) {
        self.init(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(configuration.connectTimeout)),
            // The service wants to see connections that stay; middleboxes forget those that are silent for some six minutes.
            connectionPool: .init(idleTimeout: .minutes(5)))
        httpVersion = .automatic
        // The sender's own pauses are the ones that count, and it wants to hear of each failure.
        connectionPool.retryConnectionEstablishment = false
        // A span would hold the URL, and with it the device token.
        tracing.tracer = nil
        #if os(Linux)
        // A connection whose peer has vanished would swallow every try until the kernel gives up, after a quarter of an hour.
        let limit = configuration.attemptTimeout / .milliseconds(1)
        http2ConnectionDebugInitializer = { channel in
            channel.setOption(Self.unacknowledgedLimit, value: Int(limit))
        }
        #endif
    }

    #if os(Linux)
    /// `TCP_USER_TIMEOUT`: how many milliseconds sent data may remain unacknowledged.
    private static let unacknowledgedLimit = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: 18))
    #endif
}
