import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// An application's end of a back-channel logout: listens on loopback, keeps each request as it came, and answers as a test says.
struct ScriptedReceiver: Sendable {
    let port: Int
    private let requests: NIOLockedValueBox<[String]>

    /// What came until now.
    var received: [String] { requests.withLockedValue { $0 } }

    /// Runs a test beside an application that gives these answers, one for each connection, and the last one from then on.
    static func with<Result: Sendable>(
        _ answers: [String], _ body: @Sendable (ScriptedReceiver) async throws -> Result
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
                            for try await part in inbound {
                                text += String(buffer: part)
                                if text.contains("logout_token=") { break }
                            }
                            let number = requests.withLockedValue { all in
                                all.append(text)
                                return all.count
                            }
                            let answer = answers[min(number, answers.count) - 1]
                            try await outbound.write(ByteBuffer(string: answer))
                        }
                    }
                }
            }
            let result = try await body(ScriptedReceiver(port: port, requests: requests))
            group.cancelAll()
            return result
        }
    }

    /// An answer with a status and these headers.
    static func answer(_ status: Int, _ headers: String = "") -> String {
        "HTTP/1.1 \(status) Status\r\nContent-Length: 0\r\nConnection: close\r\n\(headers)\r\n"
    }
}
