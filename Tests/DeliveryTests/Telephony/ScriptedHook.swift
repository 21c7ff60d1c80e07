import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The hook of whoever carries texts: listens on loopback, keeps each request as it came, and answers as a test says.
struct ScriptedHook: Sendable {
    let port: Int
    private let requests: NIOLockedValueBox<[String]>

    /// What came until now.
    var received: [String] { requests.withLockedValue { $0 } }

    /// Runs a test beside a hook that gives these answers, one for each connection, and the last one from then on.
    static func with<Result: Sendable>(
        _ answers: [String], _ body: @Sendable (ScriptedHook) async throws -> Result
    ) async throws -> Result {
        let requests = NIOLockedValueBox<[String]>([])
        let listening = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel) }
            }
        let port = listening.channel.localAddress?.port ?? 0
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listening.executeThenClose { connections in
                    for try await connection in connections {
                        try await connection.executeThenClose { inbound, outbound in
                            var text = ""
                            // The body is one line of JSON, which ends the request.
                            for try await part in inbound {
                                text += String(buffer: part)
                                if text.hasSuffix("}") { break }
                            }
                            let number = requests.withLockedValue { all in
                                all.append(text)
                                return all.count
                            }
                            try await outbound.write(ByteBuffer(string: answers[min(number, answers.count) - 1]))
                        }
                    }
                }
            }
            let result = try await body(ScriptedHook(port: port, requests: requests))
            group.cancelAll()
            return result
        }
    }

    /// An answer with a status, a body and these headers.
    static func answer(_ status: Int = 200, _ body: String = "", headers: String = "") -> String {
        "HTTP/1.1 \(status) Status\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\(headers)\r\n\(body)"
    }

    /// What a hook says that sent a text.
    static func sent(_ status: String = "SUCCESSFUL") -> String {
        answer(
            200,
            #"{"commands":[{"type":"com.okta.telephony.action","value":[{"status":"\#(status)","provider":"X","transactionId":"tx1"}]}]}"#)
    }
}
