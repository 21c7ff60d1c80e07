import NIOCore
import NIOPosix
import NIOSSL

/// Sends bytes to a port and keeps every byte that comes back, so that tests see what goes over the wire.
struct WireClient: Sendable {
    let port: Int
    /// Speaks TLS if there is one.
    var tls: NIOSSLContext?

    /// Sends a request as written and reads until the server closes.
    func send(_ bytes: some Collection<UInt8> & Sendable, serverName: String? = "localhost") async throws -> [UInt8] {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { [tls] channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: tls, serverHostname: serverName))
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var received: [UInt8] = []
            do {
                try await outbound.write(ByteBuffer(bytes: bytes))
                for try await part in inbound { received.append(contentsOf: part.readableBytesView) }
            } catch is IOError {
                // A reset connection ends like a closed one; what arrived before counts.
            } catch ChannelError.ioOnClosedChannel {
                // The server closed before all was written, as it may with a slow request.
            } catch NIOSSLError.uncleanShutdown {
                // The same under TLS.
            }
            return received
        }
    }

    /// Sends a request and reads the one answer.
    func call(
        _ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8] = [], sendsLength: Bool = true
    ) async throws -> WireResponse {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if sendsLength, !body.isEmpty { head += "Content-Length: \(body.count)\r\n" }
        return try WireResponse(parsing: await send(Array((head + "\r\n").utf8) + body))
    }

    /// The body of an answer that is no text.
    func bytes(_ method: String, _ target: String, headers: [(String, String)] = []) async throws -> [UInt8] {
        let lines = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
        let answer = try await send(
            Array("\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\(lines)\r\n".utf8))
        let end = Array("\r\n\r\n".utf8)
        let start = answer.indices.first { answer[$0...].starts(with: end) } ?? answer.endIndex
        return Array(answer[start...].dropFirst(end.count))
    }

    func get(_ target: String, headers: [(String, String)] = []) async throws -> WireResponse {
        try await call("GET", target, headers: headers)
    }

    /// Posts a form as written.
    func post(_ target: String, _ form: String, headers: [(String, String)] = []) async throws -> WireResponse {
        let type = ("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
        return try await call("POST", target, headers: [type] + headers, body: Array(form.utf8))
    }
}
