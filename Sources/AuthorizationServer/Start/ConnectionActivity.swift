internal import NIOCore
internal import NIOHTTP1

/// Reports to the connection limit whether a connection waits for its client or for the server. Notifies a held request when its client
/// disconnects. Closes a connection whose first request does not arrive in time.
final class ConnectionActivity: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let limit: ConnectionLimit
    private let place: ConnectionLimit.Place
    private let firstRequestTimeout: TimeAmount
    private var deadline: Scheduled<Void>?
    /// Complete requests without a complete response; -1 while a request still arrives that was already answered.
    private var unanswered = 0
    /// Whether the current response is an event stream, which lasts until its client disconnects.
    private var isStreaming = false
    private var isClosedByClient = false
    private var closeHandler: (@Sendable () -> Void)?

    init(_ limit: ConnectionLimit, _ place: ConnectionLimit.Place, firstRequestTimeout: TimeAmount) {
        (self.limit, self.place, self.firstRequestTimeout) = (limit, place, firstRequestTimeout)
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
        // With half-closure, a client that closes only its side causes this event.
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

    /// Sets the handler for the client closing its side of the connection; `nil` removes it. Calls it at once if the client has done so.
    static func observeClose(of channel: any Channel, _ handler: (@Sendable () -> Void)?) {
        channel.eventLoop.execute {
            // A closed connection has no handlers.
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
