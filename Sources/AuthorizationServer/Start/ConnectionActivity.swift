internal import NIOCore
internal import NIOHTTP1

/// Tells the connection limit whether a connection waits for its client or for the server, and closes one that sends no first request in time.
final class ConnectionActivity: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let limit: ConnectionLimit
    private let place: ConnectionLimit.Place
    private let firstRequestTimeout: TimeAmount
    private var deadline: Scheduled<Void>?
    /// Complete requests without a complete answer; -1 while a request arrives that was answered before its end.
    private var unanswered = 0
    /// Whether the server's answer is an event stream, which lasts as long as its client likes.
    private var isStreaming = false

    init(_ limit: ConnectionLimit, _ place: ConnectionLimit.Place, firstRequestTimeout: TimeAmount) {
        self.limit = limit
        self.place = place
        self.firstRequestTimeout = firstRequestTimeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: firstRequestTimeout) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            deadline?.cancel()
            count(0)
        case .body: break
        case .end: count(1)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head):
            isStreaming = head.headers.first(name: "content-type") == "text/event-stream"
            if isStreaming { limit.setWaiting(place, forClient: true) }
        case .body: break
        case .end:
            isStreaming = false
            count(-1)
        }
        context.write(data, promise: promise)
    }

    private func count(_ difference: Int) {
        unanswered += difference
        guard !isStreaming else { return }
        limit.setWaiting(place, forClient: unanswered <= 0)
    }
}
