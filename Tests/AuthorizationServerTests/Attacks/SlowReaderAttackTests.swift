import AuthorizationServer
import NIOCore
import NIOPosix
import TestSupport
import Testing

/// A client that sends requests endlessly and reads no response, so that responses pile up.
@Suite("Attacks: clients that read no responses", .timeLimit(.minutes(1)))
struct SlowReaderAttackTests {
    @Test("A connection whose client reads no responses is closed", .onOneServer)
    func unread() async throws {
        var configuration = AuthorizationServer.Configuration(port: 0)
        configuration.limits.answerTimeout = .milliseconds(500)
        try await RunningServer.fresh(configuration: configuration) { running in
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(ChannelOptions.autoRead, value: false)
                .channelOption(ChannelOptions.socketOption(.so_rcvbuf), value: 4_096)
                .connect(host: "127.0.0.1", port: running.wire.port).get()
            let request = "GET /oauth2/default/.well-known/openid-configuration HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            // The requests exceed all buffers between client and server, so writing ends only when the connection closes.
            await #expect(throws: (any Error).self) {
                for _ in 0..<5_000 {
                    try await channel.writeAndFlush(ByteBuffer(string: String(repeating: request, count: 50)))
                }
            }
            try? await channel.close()
            #expect(try await running.wire.get("/health/live").status == 200)
        }
    }
}
