internal import Delivery
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// Reads one HTTP/2 stream to its end, and passes the request on.
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
