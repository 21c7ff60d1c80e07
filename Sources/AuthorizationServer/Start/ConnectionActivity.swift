internal import NIOCore
internal import NIOHTTP1

/// Reports to the connection limit whether a connection waits for its client or for the server. Notifies a held request when its client
/// disconnects. Closes a connection whose first request does not arrive in time, or whose client does not read a response in time.
final class ConnectionActivity: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let limit: ConnectionLimit
    private let place: ConnectionLimit.Place
    private let firstRequestTimeout: TimeAmount
    private let answerTimeout: TimeAmount
    private var deadline: Scheduled<Void>?
    /// The number of responses, or of parts of an event stream, that the client has not read.
    private var unread = 0
    private var unreadDeadline: Scheduled<Void>?
    /// The number of complete requests without a complete response; -1 while a request that was already answered still arrives.
    private var unanswered = 0
    /// Whether the current response is an event stream, which lasts until its client disconnects.
    private var isStreaming = false
    private var isClosedByClient = false
    private var closeHandler: (@Sendable () -> Void)?

    init(_ limit: ConnectionLimit, _ place: ConnectionLimit.Place, firstRequestTimeout: TimeAmount, answerTimeout: TimeAmount) {
        (self.limit, self.place) = (limit, place)
        (self.firstRequestTimeout, self.answerTimeout) = (firstRequestTimeout, answerTimeout)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: firstRequestTimeout) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        unreadDeadline?.cancel()
    }

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
        var promise = promise
        switch unwrapOutboundIn(data) {
        case .head(let head):
            isStreaming = head.headers.first(name: "content-type") == "text/event-stream"
            if isStreaming { limit.setWaiting(place, forClient: true) }
        case .body:
            if isStreaming { promise = observed(promise, context) }
        case .end:
            promise = observed(promise, context)
            isStreaming = false
            count(-1)
        }
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        // Nearly every response is in the kernel's buffer now, and needs no timer.
        if unread > 0, unreadDeadline == nil { expectReading(context.channel) }
    }

    /// Returns a promise that ends the wait for the client when it is fulfilled.
    private func observed(_ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        let promise = promise ?? context.eventLoop.makePromise()
        let channel = context.channel
        unread += 1
        promise.futureResult.assumeIsolated().whenComplete { [self] _ in
            unread -= 1
            guard let deadline = unreadDeadline else { return }
            deadline.cancel()
            unreadDeadline = nil
            if unread > 0 { expectReading(channel) }
        }
        return promise
    }

    private func expectReading(_ channel: any Channel) {
        unreadDeadline = channel.eventLoop.scheduleTask(in: answerTimeout) { channel.close(promise: nil) }
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

    /// Sets the handler for the client closing its side of the connection; `nil` removes the handler. Calls the handler at once if the
    /// client has already closed.
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
