internal import NIOCore
internal import NIOHTTP1

/// Tells the connection limit whether a connection waits for its client or for the server, and a request that waits that its client left.
/// Closes a connection that sends no first request in time.
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
    private var isClosedByClient = false
    private var closeHandler: (@Sendable () -> Void)?

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

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // With half closure, the end of the client's side alone is reported so.
        if event as? ChannelEvent == .inputClosed { noteClose() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        noteClose()
        context.fireChannelInactive()
    }

    private func noteClose() {
        isClosedByClient = true
        closeHandler?()
    }

    /// Sets the handler that is called when the client closes its side of a connection, at once if it has; `nil` removes it.
    static func observeClose(of channel: any Channel, _ handler: (@Sendable () -> Void)?) {
        channel.eventLoop.execute {
            // A connection that is closed has no handlers any more.
            let activity = try? channel.pipeline.syncOperations.handler(type: ConnectionActivity.self)
            activity?.closeHandler = handler
            if activity?.isClosedByClient ?? true { handler?() }
        }
    }

    private func count(_ difference: Int) {
        unanswered += difference
        guard !isStreaming else { return }
        limit.setWaiting(place, forClient: unanswered <= 0)
    }
}
