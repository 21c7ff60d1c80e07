import HTTPTypes
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import AuthorizationServer
@testable import ServerHTTP

/// A connection that stays open until the server or the test closes it.
private struct HeldConnection: Sendable {
    static let request = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"

    let channel: any Channel
    private let firstBytes: EventLoopFuture<Bool>

    /// Connects and sends a text.
    init(_ port: Int, sending text: String = "") async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: Bool.self)
        firstBytes = promise.futureResult
        do {
            channel = try await ClientBootstrap(group: loop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(FirstBytes(promise: promise))
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
        } catch {
            promise.fail(error)
            throw error
        }
        try? await send(text)
    }

    func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text))
    }

    /// Whether anything was received before the connection was closed.
    var isAnswered: Bool {
        get async throws { try await firstBytes.get() }
    }

    func close() async {
        try? await channel.close()
    }

    private final class FirstBytes: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let promise: EventLoopPromise<Bool>

        init(promise: EventLoopPromise<Bool>) { self.promise = promise }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { promise.succeed(true) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
        func handlerRemoved(context: ChannelHandlerContext) { promise.succeed(false) }
    }
}

@Suite("Attacks: connection floods", .timeLimit(.minutes(1)))
struct ConnectionFloodAttackTests {
    private static func configuration(_ settings: [String: String]) throws -> AuthorizationServer.Configuration {
        var configuration = try AuthorizationServer.Configuration(commandLine: settings.merging(["port": "0"]) { $1 })
        configuration.limits.firstRequestTimeout = .seconds(3_600)
        configuration.limits.idleTimeout = .seconds(3_600)
        return configuration
    }

    @Test(
        "If connections that send no data reach the per-address limit, the server still answers a new connection from the same address",
        .onOneServer)
    func silent() async throws {
        try await RunningServer.fresh(configuration: Self.configuration(["max-connections-per-address": "2"])) { running in
            var silent: [HeldConnection] = []
            for _ in 0..<5 { silent.append(try await HeldConnection(running.wire.port)) }
            // The server closes three of the five connections after it has accepted all of them.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for connection in silent { group.addTask { try? await connection.channel.closeFuture.get() } }
                for _ in 0..<3 { try await group.next() }
                let neighbour = try? await HeldConnection(running.wire.port, sending: HeldConnection.request)
                #expect(try await neighbour?.isAnswered == true)
                await neighbour?.close()
                for connection in silent { await connection.close() }
            }
        }
    }

    @Test(
        "At the per-address connection limit, a new connection closes the connection that has waited longest for client data, even in mid-request"
    )
    func longestIdle() async throws {
        try await RunningServer.fresh(configuration: Self.configuration(["max-connections-per-address": "2"])) { running in
            // Both requests are in one segment, so the server has read the beginning of the second request when it answers the first one.
            let begun = "POST /oauth2/v1/token HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc"
            let first = try await HeldConnection(running.wire.port, sending: HeldConnection.request + begun)
            #expect(try await first.isAnswered)
            let second = try await HeldConnection(running.wire.port, sending: HeldConnection.request)
            #expect(try await second.isAnswered)
            let third = try await HeldConnection(running.wire.port, sending: HeldConnection.request)
            #expect(try await third.isAnswered)
            try await first.channel.closeFuture.get()
            #expect(second.channel.isActive && third.channel.isActive)
            for connection in [second, third] { await connection.close() }
        }
    }

    @Test(
        "At the per-address connection limit, connections with a request in progress stay open, and new connections are closed without a response",
        .onOneServer)
    func answering() async throws {
        let gate = Gate()
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let interceptor: AuthorizationServer.Interceptor = { request, next in
            arrival.yield()
            await gate.wait()
            return await next(request)
        }
        let configuration = try Self.configuration(["max-connections-per-address": "2"])
        try await RunningServer.fresh(configuration: configuration, interceptor: interceptor) { running in
            let port = running.wire.port
            let held = [
                try await HeldConnection(port, sending: HeldConnection.request),
                try await HeldConnection(port, sending: HeldConnection.request),
            ]
            var arrived = arrivals.makeAsyncIterator()
            for _ in held { await arrived.next() }
            for _ in 1...3 { #expect(try await !HeldConnection(port, sending: HeldConnection.request).isAnswered) }
            gate.open()
            for connection in held { #expect(try await connection.isAnswered) }
            let next = try await HeldConnection(port, sending: HeldConnection.request)
            #expect(try await next.isAnswered)
            for connection in held + [next] { await connection.close() }
        }
    }

    @Test(
        "At the per-address connection limit, a new connection closes an open event stream, even if another request is queued behind the stream",
        .onOneServer)
    func eventStreams() async throws {
        let gate = Gate()
        let interceptor: AuthorizationServer.Interceptor = { request, next in
            guard request.head.path == "/events" else { return await next(request) }
            var response = ServerResponse(status: .ok, headers: [.contentType: "text/event-stream"])
            response.stream = { send in
                try await send(Array(":\n\n".utf8))
                await gate.wait()
            }
            return response
        }
        let configuration = try Self.configuration(["max-connections-per-address": "2"])
        try await RunningServer.fresh(configuration: configuration, interceptor: interceptor) { running in
            let port = running.wire.port
            let request = "GET /events HTTP/1.1\r\nHost: x\r\n\r\n"
            var streams: [HeldConnection] = []
            for start in [request + HeldConnection.request, request] {
                // The server answers each stream before the next one begins, so the first stream has waited longest.
                let stream = try await HeldConnection(port, sending: start)
                #expect(try await stream.isAnswered)
                streams.append(stream)
            }
            #expect(streams.allSatisfy { $0.channel.isActive })
            for stream in streams {
                let next = try await HeldConnection(port, sending: HeldConnection.request)
                #expect(try await next.isAnswered)
                // The time limit of the suite ends this wait if the stream stays open.
                try await stream.channel.closeFuture.get()
                #expect(next.channel.isActive)
                await next.close()
                _ = try await HeldConnection(port, sending: request).isAnswered
            }
            gate.open()
        }
    }

    @Test("A connection that does not complete its first request in time is closed", arguments: ["", "GET /health/live HT"])
    func firstRequest(start: String) async throws {
        var configuration = try Self.configuration([:])
        configuration.limits.firstRequestTimeout = .milliseconds(200)
        try await RunningServer.fresh(configuration: configuration) { running in
            let late = try await HeldConnection(running.wire.port, sending: start)
            try await late.channel.closeFuture.get()
            #expect(try await !late.isAnswered)
        }
    }

    @Test("A connection that sent its first request in time stays open after the first-request timeout")
    func laterRequest() async throws {
        var configuration = try Self.configuration([:])
        configuration.limits.firstRequestTimeout = .seconds(2)
        try await RunningServer.fresh(configuration: configuration) { running in
            let used = try await HeldConnection(running.wire.port, sending: HeldConnection.request)
            #expect(try await used.isAnswered)
            // This connection began later, so its deadline is later than that of the first connection.
            let late = try await HeldConnection(running.wire.port)
            try await late.channel.closeFuture.get()
            #expect(used.channel.isActive)
            await used.close()
        }
    }

    @Test("The limit of connections per address does not apply to a trusted proxy")
    func trustedProxy() async throws {
        let configuration = try Self.configuration(["max-connections-per-address": "1", "trusted-proxies": "127.0.0.1"])
        try await RunningServer.fresh(configuration: configuration) { running in
            let first = try await HeldConnection(running.wire.port, sending: HeldConnection.request)
            #expect(try await first.isAnswered)
            let second = try await HeldConnection(running.wire.port, sending: HeldConnection.request)
            #expect(try await second.isAnswered)
            #expect(first.channel.isActive)
            for connection in [first, second] { await connection.close() }
        }
    }
}
