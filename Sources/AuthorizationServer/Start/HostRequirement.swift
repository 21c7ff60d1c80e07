internal import NIOCore
internal import NIOHTTP1

/// Refuses requests without exactly one valid `Host` (RFC 9112 section 3.2): the server answers 400 and closes the connection, as for a
/// request that cannot be parsed.
///
/// HTTP/1.0 does not define the field, and health checks of load balancers omit it.
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
        // RFC 9112 section 9.3: such a connection closes unless the client asks for more.
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

    /// Whether a byte can stand in a host and port (RFC 3986 section 3.2.2).
    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-._~%!$&'()*+;=:[]".utf8.contains(byte)
        }
    }
}
