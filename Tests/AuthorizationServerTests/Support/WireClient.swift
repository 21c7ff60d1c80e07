import NIOCore
import NIOPosix
import NIOSSL

/// A client that sends bytes to a port and returns every byte of the response.
struct WireClient: Sendable {
    let port: Int
    /// The TLS context; `nil` for HTTP without TLS.
    var tls: NIOSSLContext?

    /// Sends these bytes and reads until the server closes the connection.
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
                // A reset counts as a close; the bytes that arrived before are returned.
            } catch ChannelError.ioOnClosedChannel {
                // The server may close the connection before it has read the whole request.
            } catch NIOSSLError.uncleanShutdown {
                // The server may also close a TLS connection early.
            }
            return received
        }
    }

    /// Sends a request and returns its response.
    func call(
        _ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8] = [], sendsLength: Bool = true
    ) async throws -> WireResponse {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if sendsLength, !body.isEmpty { head += "Content-Length: \(body.count)\r\n" }
        return try WireResponse(parsing: await send(Array((head + "\r\n").utf8) + body))
    }

    /// Sends a request and returns the body of its response as bytes.
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

    /// Posts an encoded form without changes.
    func post(_ target: String, _ form: String, headers: [(String, String)] = []) async throws -> WireResponse {
        let type = ("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
        return try await call("POST", target, headers: [type] + headers, body: Array(form.utf8))
    }
}
