internal import NIOCore
internal import NIOSSL

/// Runs an ``SMTPExchange`` on a connection. It is used only on the event loop of the connection.
final class SMTPHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var exchange: SMTPExchange
    private var reader = SMTPReply.Reader()
    private let makeTLS: () throws -> NIOSSLClientHandler
    private let ending: EventLoopPromise<SMTPExchange.Ending>
    private let timeout: TimeAmount
    private var alarm: Scheduled<Void>?
    private var isOver = false

    init(
        _ exchange: SMTPExchange, timeout: TimeAmount, ending: EventLoopPromise<SMTPExchange.Ending>,
        makeTLS: @escaping () throws -> NIOSSLClientHandler
    ) {
        (self.exchange, self.timeout, self.ending, self.makeTLS) = (exchange, timeout, ending, makeTLS)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        // Limits the whole exchange, so that a slow server cannot hold the connection open.
        alarm = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        let replies: [SMTPReply]
        do {
            replies = try reader.read(unwrapInboundIn(data).readableBytesView)
        } catch {
            return finish(.refused("the server does not speak SMTP"), context)
        }
        for (index, reply) in replies.enumerated() {
            guard !isOver else { return }
            // A server replies once to each command. Data after the reply to STARTTLS was not encrypted, and an attacker may have injected
            // it.
            let hasMore = index + 1 < replies.count || !reader.isEmpty
            perform(exchange.received(reply), hasMore: hasMore, context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(exchange.disconnected(), context)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // TLS errors can be very long.
        let ending = exchange.disconnected()
        finish(ending == .unanswered ? ending : .retry(String("\(error)".prefix(200))), context)
    }

    private func perform(_ action: SMTPExchange.Action, hasMore: Bool, _ context: ChannelHandlerContext) {
        switch action {
        case .send(let text): send(text, context)
        case .startTLS(let text):
            guard !hasMore else { return finish(.refused("the server said more than the encryption's beginning"), context) }
            do {
                try context.pipeline.syncOperations.addHandler(try makeTLS(), position: .first)
                send(text, context)
            } catch {
                finish(.refused("TLS cannot be begun"), context)
            }
        case .end(let ending, let text):
            if let text { send(text, context) }
            finish(ending, context)
        }
    }

    private func send(_ text: String, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(string: text)), promise: nil)
    }

    private func finish(_ result: SMTPExchange.Ending, _ context: ChannelHandlerContext) {
        guard !isOver else { return }
        isOver = true
        alarm?.cancel()
        ending.succeed(result)
        context.close(promise: nil)
    }
}
