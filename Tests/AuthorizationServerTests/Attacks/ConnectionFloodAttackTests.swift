import AuthorizationServer
import NIOCore
import NIOPosix
import Testing

/// A connection that stays open and has been answered once, so that the server counts it.
private struct HeldConnection: Sendable {
    let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

    static func hold<Result: Sendable>(_ port: Int, _ body: @Sendable (_ isAnswered: Bool) async throws -> Result) async throws -> Result {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var received = 0
            do {
                try await outbound.write(ByteBuffer(string: "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"))
                var parts = inbound.makeAsyncIterator()
                received = try await parts.next()?.readableBytes ?? 0
            } catch is IOError {
                // The server reset the connection.
            } catch ChannelError.ioOnClosedChannel {
                // The server closed the connection before the request was sent.
            }
            return try await body(received > 0)
        }
    }
}

@Suite("Attacks: connection floods", .timeLimit(.minutes(1)))
struct ConnectionFloodAttackTests {
    private static func configuration(_ settings: [String: String]) throws -> AuthorizationServer.Configuration {
        try AuthorizationServer.Configuration(commandLine: settings.merging(["port": "0"]) { $1 })
    }

    @Test("Connections of one address over its limit are closed unanswered, and the address is served again after it closed one.")
    func limited() async throws {
        try await RunningServer.fresh(configuration: Self.configuration(["max-connections-per-address": "2"])) { running in
            let port = running.wire.port
            try await HeldConnection.hold(port) { isAnswered in
                #expect(isAnswered)
                try await HeldConnection.hold(port) { isAnswered in
                    #expect(isAnswered)
                    for _ in 1...3 { try await HeldConnection.hold(port) { #expect(!$0) } }
                }
                // The server learns of the end of a connection a moment later.
                var isServed = false
                for _ in 1...10_000 where !isServed { isServed = try await HeldConnection.hold(port) { $0 } }
                #expect(isServed)
            }
        }
    }

    @Test("A trusted proxy opens as many connections as it needs.")
    func trustedProxy() async throws {
        let configuration = try Self.configuration(["max-connections-per-address": "1", "trusted-proxies": "127.0.0.1"])
        try await RunningServer.fresh(configuration: configuration) { running in
            let port = running.wire.port
            try await HeldConnection.hold(port) { first in
                try await HeldConnection.hold(port) { second in #expect(first && second) }
            }
        }
    }
}
