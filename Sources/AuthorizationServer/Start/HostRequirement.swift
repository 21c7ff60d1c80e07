internal import NIOCore
internal import NIOHTTP1

/// Rejects requests without exactly one valid `Host` header with 400 and closes the connection (RFC 9112 section 3.2). Accepts HTTP/1.0
/// requests without the header: HTTP/1.0 does not define it, and health checks of load balancers omit it.
final class HostRequirement: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        guard case .head(var head) = unwrapInboundIn(data) else {
            context.fireChannelRead(data)
            return
        }
        guard Self.isAccepted(head) else {
            isRefused = true
            context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
            return
        }
        // RFC 9112 section 9.3: an HTTP/1.0 connection closes unless the client asks for keep-alive.
        if Self.isOld(head.version), !head.headers[canonicalForm: "connection"].contains(where: { $0.lowercased() == "keep-alive" }) {
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private static func isOld(_ version: HTTPVersion) -> Bool { version == .http1_0 || version == .http0_9 }

    private static func isAccepted(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["host"]
        guard let host = hosts.first else { return isOld(head.version) }
        return hosts.count == 1 && !host.isEmpty && host.utf8.allSatisfy(isHostByte)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-._~%!$&'()*+;=:[]".utf8.contains(byte)
        }
    }
}
