import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A hostile server responds to requests of the client's own session.
@Suite("Attacks: hostile responses to the client")
struct HostileResponseTests {
    private func request(_ server: HostileServer, _ path: String = "/") throws -> URLRequest {
        URLRequest(url: try url("http://127.0.0.1:\(server.port)\(path)"))
    }

    private func response(_ head: String, _ body: String = "") -> HostileServer.Answer {
        .bytes("\(head)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
    }

    @Test("An endless response is rejected, and the connection is closed", .timeLimit(.minutes(1)))
    func endless() async throws {
        let server = try HostileServer { _ in .endless("HTTP/1.1 200 OK\r\n\r\n") }
        await #expect(throws: URLError(.dataLengthExceedsMaximum)) { try await EphemeralSession().data(for: request(server)) }
        try await server.closed()
    }

    @Test("A response whose Content-Length exceeds the limit is rejected before the body arrives", .timeLimit(.minutes(1)))
    func contentLength() async throws {
        let server = try HostileServer { _ in .drip("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n") }
        await #expect(throws: URLError(.dataLengthExceedsMaximum)) { try await EphemeralSession().data(for: request(server)) }
    }

    @Test("A request has Accept-Encoding: identity unless the app sets another value")
    func acceptEncoding() async throws {
        let server = try HostileServer { _ in response("HTTP/1.1 200 OK") }
        _ = try await EphemeralSession().data(for: request(server))
        var own = try request(server)
        own.setValue("gzip", forHTTPHeaderField: "Accept-Encoding")
        _ = try await EphemeralSession().data(for: own)
        #expect(server.heads[0].contains("\r\nAccept-Encoding: identity"))
        #expect(server.heads[1].contains("\r\nAccept-Encoding: gzip"))
    }

    @Test(
        "A compressed response that the client did not request is rejected before the body is read, and the connection is closed",
        .timeLimit(.minutes(1)),
        arguments: ["gzip", "deflate", "x-gzip", "GZIP", "gzip, gzip", "identity, gzip"])
    func compressed(encoding: String) async throws {
        let server = try HostileServer { _ in .drip("HTTP/1.1 200 OK\r\nContent-Encoding: \(encoding)\r\n\r\n") }
        await #expect(throws: URLError(.cannotDecodeContentData)) { try await EphemeralSession().data(for: request(server)) }
        try await server.closed()
    }

    @Test("A request whose response arrives byte by byte fails at the request's timeout", .timeLimit(.minutes(1)))
    func drip() async throws {
        let clock = ManualClock()
        let server = try HostileServer { _ in .drip("HTTP/1.1 200 OK\r\n\r\n") }
        let session = EphemeralSession(clock: clock)
        let request = try request(server)
        let task = Task { try await session.data(for: request) }
        await clock.sleepers(1)
        clock.advance(by: request.timeoutInterval + 1)
        await #expect(throws: URLError(.timedOut)) { try await task.value }
        try await server.closed()
    }

    @Test("If the discovery response arrives byte by byte, discovery fails after three attempts of 20 seconds", .timeLimit(.minutes(1)))
    func drippingDiscovery() async throws {
        let clock = ManualClock()
        let server = try HostileServer { _ in .drip("HTTP/1.1 200 OK\r\n\r\n") }
        let client = OAuth2Client(
            OAuth2Client.Configuration(issuerURL: try url("http://127.0.0.1:\(server.port)"), clientId: "app", scope: "openid"),
            session: EphemeralSession(clock: clock), clock: ManualClock(sleeps: .skipped))
        let task = Task { try await client.openIdConfiguration() }
        for _ in 0..<3 {
            await clock.sleepers(1)
            #expect(clock.waits == [20])
            clock.advance(by: 20)
        }
        let error = await #expect(throws: APIClientError.self) { try await task.value }
        #expect(error == .httpError(URLError(.timedOut)))
    }

    @Test("Discovery does not follow a redirect to another host")
    func redirectedDiscovery() async throws {
        let other = try HostileServer { _ in response("HTTP/1.1 200 OK", "{}") }
        let server = try HostileServer { _ in
            response("HTTP/1.1 302 Found\r\nLocation: http://localhost:\(other.port)/.well-known/openid-configuration")
        }
        let client = OAuth2Client(
            OAuth2Client.Configuration(issuerURL: try url("http://127.0.0.1:\(server.port)"), clientId: "app", scope: "openid"),
            session: EphemeralSession(), clock: ManualClock(sleeps: .skipped))
        let error = await #expect(throws: APIClientError.self) { try await client.openIdConfiguration() }
        #expect(error == .statusCode(302))
        #expect(other.heads.isEmpty)
    }

    @Test(
        "EphemeralSession returns a 401 response to the caller, regardless of the WWW-Authenticate challenge", .timeLimit(.minutes(1)),
        arguments: ["Basic realm=\"x\"", "Basic", "Digest realm=\"x\", nonce=\"y\"", "DPoP error=\"use_dpop_nonce\"", "Bearer", "=,\"", ""])
    func challenge(_ challenge: String) async throws {
        let server = try HostileServer { _ in response("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: \(challenge)", "refused") }
        let (data, answer) = try await EphemeralSession().data(for: request(server))
        #expect((answer as? HTTPURLResponse)?.statusCode == 401)
        #expect(String(decoding: data, as: UTF8.self) == "refused")
    }

    @Test("A response that ends one byte beyond the size limit is rejected in each of 100 attempts", .timeLimit(.minutes(2)))
    func endAtTheLimit() async throws {
        let body = String(repeating: "x", count: 11)
        let server = try HostileServer { _ in .bytes("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\(body)") }
        let session = EphemeralSession(maximumResponseSize: 10)
        let request = try request(server)
        for _ in 0..<100 {
            await #expect(throws: URLError(.dataLengthExceedsMaximum)) { try await session.data(for: request) }
        }
    }

    @Test("Cancelling a request closes its connection", .timeLimit(.minutes(1)))
    func cancelled() async throws {
        let server = try HostileServer { _ in .drip("HTTP/1.1 200 OK\r\n\r\n") }
        let request = try request(server)
        let task = Task { try await EphemeralSession().data(for: request) }
        while server.heads.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        try await server.closed()
    }

    @Test("Cancelling requests at different moments of different responses does not crash the process", .timeLimit(.minutes(5)))
    func cancelledAtAnyMoment() async throws {
        let server = try HostileServer { head in
            switch head.split(separator: " ")[1] {
            case "/redirect": response("HTTP/1.1 302 Found\r\nLocation: /short", "moved")
            case "/drip": .drip("HTTP/1.1 200 OK\r\n\r\n")
            case "/excess": .bytes("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + String(repeating: "x", count: 101))
            default: response("HTTP/1.1 200 OK", "hello")
            }
        }
        let session = EphemeralSession(maximumResponseSize: 100)
        let paths = ["/short", "/redirect", "/drip", "/excess"]
        let requests = try paths.map { try request(server, $0) }
        await withTaskGroup(of: Void.self) { group in
            for request in requests {
                group.addTask {
                    for round in 0..<100 {
                        let task = Task { try await session.data(for: request) }
                        for _ in 0..<(round * 7 % 200) { await Task.yield() }
                        task.cancel()
                        _ = await task.result
                    }
                }
            }
        }
        let (data, _) = try await session.data(for: requests[0])
        #expect(String(decoding: data, as: UTF8.self) == "hello")
    }
}
