internal import Delivery
internal import Foundation
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2
internal import NIOPosix
internal import NIOSSL

/// A listener that accepts connections for one of the gateway's services, on a port of the loopback interface.
final class PushGatewayListener: Sendable {
    /// The connection count and the open connections.
    struct Connections {
        var count = 0
        var open: [Int: any Channel] = [:]
        var isClosed = false
    }

    let port: Int
    private let server: any Channel
    private let connections: NIOLockedValueBox<Connections>

    private init(server: any Channel, connections: NIOLockedValueBox<Connections>) {
        self.server = server
        self.connections = connections
        port = server.localAddress?.port ?? 0
    }

    /// Starts to listen; port 0 selects a free port. All listeners of a gateway share `connections`. `onClose` receives the number of a
    /// closed connection. `hand` receives each request and must not block.
    static func bind(
        _ environment: PushEnvironment, port: Int, tls: NIOSSLContext, connections: NIOLockedValueBox<Connections>,
        onClose: @escaping @Sendable (Int) -> Void, hand: @escaping @Sendable (PushExchange) -> Void
    ) async throws -> PushGatewayListener {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { connection in
                connection.eventLoop.makeCompletedFuture {
                    let number = try open(connection, in: connections)
                    connection.closeFuture.whenComplete { _ in
                        connections.withLockedValue { $0.open[number] = nil }
                        onClose(number)
                    }
                    let pipeline = connection.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                    _ = try pipeline.configureHTTP2Pipeline(
                        mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
                    ) { stream in
                        stream.eventLoop.makeCompletedFuture {
                            try stream.pipeline.syncOperations.addHandler(
                                PushStreamHandler(environment: environment, connection: number) { request, stream in
                                    hand(PushExchange(request: request, stream: stream, connection: connection))
                                })
                        }
                    }
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        return PushGatewayListener(server: server, connections: connections)
    }

    private static func open(_ connection: any Channel, in connections: NIOLockedValueBox<Connections>) throws -> Int {
        try connections.withLockedValue { connections in
            guard !connections.isClosed else { throw CancellationError() }
            connections.count += 1
            connections.open[connections.count] = connection
            return connections.count
        }
    }

    /// Stops listening, and closes the open connections of all listeners of the gateway.
    func close() async {
        // Fails only if the listener is already closed.
        try? await server.close().get()
        let open = connections.withLockedValue { connections in
            connections.isClosed = true
            return Array(connections.open.values)
        }
        for connection in open { try? await connection.close().get() }
    }
}

/// A handler that reads one HTTP/2 stream to its end and passes the request on.
final class PushStreamHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    /// The maximum stored size of a body, in bytes; larger bodies are refused anyway.
    private static let mostBody = 16 << 10

    private let environment: PushEnvironment
    private let connection: Int
    private let hand: @Sendable (PushGatewayRequest, any Channel) -> Void
    private var headers = HPACKHeaders()
    private var body: [UInt8] = []

    init(
        environment: PushEnvironment, connection: Int, handingTo hand: @escaping @Sendable (PushGatewayRequest, any Channel) -> Void
    ) {
        self.environment = environment
        self.connection = connection
        self.hand = hand
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let isLast: Bool
        switch unwrapInboundIn(data) {
        case .headers(let frame):
            headers.add(contentsOf: frame.headers)
            isLast = frame.endStream
        case .data(let frame):
            if case .byteBuffer(let bytes) = frame.data { body += bytes.readableBytesView.prefix(Self.mostBody - body.count) }
            isLast = frame.endStream
        default: isLast = false
        }
        guard isLast else { return }
        let request = PushGatewayRequest(
            environment: environment, connection: connection, stream: Self.number(of: context.channel),
            method: headers.first(name: ":method") ?? "",
            path: headers.first(name: ":path") ?? "",
            headers: headers.filter { !$0.name.hasPrefix(":") }.map { ($0.name, $0.value) }, body: body)
        hand(request, context.channel)
    }

    private static func number(of stream: any Channel) -> Int {
        // An open stream has an ID, and its handler runs on the event loop that can read it.
        (try? stream.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)).flatMap { $0 }.map { Int($0) } ?? 0
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The provider cancelled this request.
        context.close(promise: nil)
    }
}
