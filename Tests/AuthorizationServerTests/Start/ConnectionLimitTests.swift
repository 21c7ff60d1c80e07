import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOSSL
import Testing

@testable import AuthorizationServer

@Suite("Connection limit per address")
struct ConnectionLimitTests {
    /// A handler that delays the close of a channel, as TLS does until its peer has answered.
    private final class HeldClose: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private var context: ChannelHandlerContext?

        var isClosing: Bool { context != nil }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) { self.context = context }

        func release() {
            context?.close(promise: nil)
            context = nil
        }
    }

    private struct Connection {
        let channel: EmbeddedChannel
        let close = HeldClose()

        init() throws {
            channel = EmbeddedChannel()
            try channel.pipeline.syncOperations.addHandler(close)
            let address = try SocketAddress(ipAddress: "192.0.2.1", port: 4_000)
            try channel.connect(to: address).wait()
            channel.remoteAddress = address
        }

        func finish() {
            channel.close(promise: nil)
            close.release()
            channel.embeddedEventLoop.run()
        }
    }

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Whether the limit admits a connection. A failed expectation on the Boolean does not print a channel.
    private static func admits(_ limit: ConnectionLimit, _ connection: Connection) -> Bool {
        limit.admit(connection.channel, logger: logger) != nil
    }

    @Test(
        "A closing connection still counts towards the per-address limit, and an address with twice as many connections gets no further connection"
    )
    func closing() throws {
        let limit = ConnectionLimit(most: 2, except: [])
        let connections = try (0..<7).map { _ in try Connection() }
        for connection in connections[..<4] { #expect(Self.admits(limit, connection)) }
        #expect(connections.map(\.close.isClosing) == [true, true, false, false, false, false, false])
        #expect(!Self.admits(limit, connections[4]))
        #expect(connections.map(\.close.isClosing)[2] == false, "A refused connection takes no other connection's place.")
        connections[0].finish()
        #expect(Self.admits(limit, connections[5]))
        #expect(connections.map(\.close.isClosing)[2])
        #expect(!Self.admits(limit, connections[6]))
        for connection in connections { connection.finish() }
        let later = try Connection()
        #expect(Self.admits(limit, later))
        later.finish()
    }

    @Test("The configured wait for the close_notify of a TLS client is at most 200 milliseconds")
    func tlsShutdown() throws {
        let configuration = try CurrentCertificate(
            .init(certificateChain: .text(TestCertificate.certificate), privateKey: .text(TestCertificate.privateKey))
        ).serverConfiguration()
        #expect(configuration.shutdownTimeout <= .milliseconds(200))
    }

    @Test("A connection that begins its next request does not count as the longest idle connection")
    func nextRequest() throws {
        let limit = ConnectionLimit(most: 2, except: [])
        let connections = try (0..<3).map { _ in try Connection() }
        for connection in connections[..<2] {
            let place = try #require(limit.admit(connection.channel, logger: Self.logger))
            try connection.channel.pipeline.syncOperations.addHandler(
                ConnectionActivity(limit, place, firstRequestTimeout: .seconds(10), answerTimeout: .seconds(30)))
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/health/live")
            try connection.channel.writeInbound(HTTPServerRequestPart.head(head))
            try connection.channel.writeInbound(HTTPServerRequestPart.end(nil))
            try connection.channel.writeOutbound(HTTPServerResponsePart.head(.init(version: .http1_1, status: .ok)))
            try connection.channel.writeOutbound(HTTPServerResponsePart.end(nil))
        }
        let post = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/oauth2/v1/token")
        try connections[0].channel.writeInbound(HTTPServerRequestPart.head(post))
        #expect(Self.admits(limit, connections[2]))
        #expect(connections.map(\.close.isClosing) == [false, true, false])
        for connection in connections { connection.finish() }
    }
}
