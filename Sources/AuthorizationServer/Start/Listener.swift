internal import HTTPTypes
internal import HummingbirdCore
internal import HummingbirdTLS
internal import IdentityCore
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import ServerHTTP
internal import ServiceLifecycle

/// Listens on a port and passes requests to the pipeline. Uses Hummingbird's server without its `Application`, whose `Date` header comes
/// from the system clock.
struct Listener: Sendable {
    let configuration: AuthorizationServer.Configuration
    let logger: Logger
    let pipeline: RequestPipeline
    let clock: any WallClock
    let identifiers: RequestIdentifiers
    let port: BoundPort
    let certificate: CurrentCertificate?

    /// Runs until the task is cancelled or the service shuts down gracefully.
    func run() async throws {
        let server = try builder().buildServer(
            configuration: .init(
                address: .hostname(configuration.host, port: configuration.port), backlog: 1024,
                availableConnectionsDelegate: .maximum(configuration.limits.connections, logger: logger)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger
        ) { request, writer, channel in
            try await handle(request, writer, channel)
        } onServerRunning: { channel in
            port.bind(channel.localAddress?.port ?? configuration.port)
        }
        try await server.run()
    }

    private func builder() throws -> HTTPServerBuilder {
        let limits = configuration.limits
        let settings = HTTP1Channel.Configuration(
            idleTimeout: TimeAmount(limits.idleTimeout),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headerBytes, maxHeaderListSize: limits.headerBytes, maxHeaderFieldCount: limits.headerCount))
        let http = AcceptedConnections.server(
            settings,
            limits: .init(
                connections: ConnectionLimit(most: limits.connectionsPerAddress, except: configuration.trustedProxies),
                firstRequestTimeout: TimeAmount(limits.firstRequestTimeout), answerTimeout: TimeAmount(limits.answerTimeout)))
        guard let certificate else { return http }
        return try .tls(http, tlsConfiguration: certificate.serverConfiguration())
    }

    private func handle(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        var rest = request.body.makeAsyncIterator()
        let peer = PeerAddress.resolve(
            peer: channel.remoteAddress?.ipAddress, forwarded: request.head.headerFields[values: .forwardedFor],
            proxies: configuration.trustedProxies)
        var received = ServerRequest(head: request.head, body: [], context: context(of: request.head, from: peer.address))
        received.unreadForwarded = peer.unread
        received.observeClose = { ConnectionActivity.observeClose(of: channel, $0) }
        let hasBody = request.head.headerFields[.contentLength].map { $0 != "0" } ?? request.head.headerFields.contains(.transferEncoding)
        if hasBody {
            if let body = try await collect(&rest, announced: request.head.headerFields[.contentLength].flatMap { Int($0) }, channel) {
                received.body = body
            } else {
                received.isTooLarge = true
            }
        }
        // Run the request in a child task, whose memory is freed when the request ends. The connection's task would keep the memory of its
        // deepest call until the connection closes.
        async let answering = pipeline.respond(to: received)
        let response = await answering
        try await write(response, writer)
        guard response.closesConnection else { return }
        // Closing with unread bytes resets the connection, and the client may lose the response. Read up to 1 MiB more.
        var discarded = 0
        while discarded < 1 << 20, let part = try await rest.next() { discarded += part.readableBytes }
        throw ConnectionClosed()
    }

    /// Returns the whole body, or `nil` if it is larger than the limit. A timeout closes the connection.
    private func collect(_ body: inout RequestBody.AsyncIterator, announced: Int?, _ channel: any Channel) async throws -> [UInt8]? {
        let limit = configuration.limits.bodyBytes
        if let announced, announced > limit { return nil }
        guard let first = try await body.next() else { return [] }
        var bytes = Array(first.readableBytesView)
        if bytes.count == announced { return bytes }
        if bytes.count > limit { return nil }
        let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(configuration.limits.bodyTimeout)) { channel.close(promise: nil) }
        defer { deadline.cancel() }
        while let part = try await body.next() {
            bytes.append(contentsOf: part.readableBytesView)
            if bytes.count > limit { return nil }
        }
        return bytes
    }

    private func context(of head: HTTPRequest, from address: String?) -> RequestContext {
        RequestContext(
            now: clock.now, requestID: identifiers.next(), address: address, userAgent: head.headerFields[.userAgent],
            deviceToken: head.headerFields.deviceToken)
    }

    private func write(_ response: ServerResponse, _ writer: consuming ResponseWriter) async throws {
        let head = HTTPResponse(status: response.status, headerFields: response.headers)
        switch response.delivery {
        case .whole:
            if let stream = response.stream {
                var body = try await writer.writeHead(head)
                try await stream { part in try await body.write(ByteBuffer(bytes: part)) }
                try await body.finish(nil)
                return
            }
            let body = response.body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: response.body))
            try await writer.write(response: head, body: body)
        case .truncated(let count):
            var body = try await writer.writeHead(head)
            try await body.write(ByteBuffer(bytes: response.body.prefix(count)))
            throw ConnectionClosed()
        case .dropped:
            throw ConnectionClosed()
        }
    }
}
