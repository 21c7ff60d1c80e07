import Foundation
import Testing

@Suite("Attacks: Host header (RFC 9112 §3.2)")
struct HostHeaderAttackTests {
    private static func status(_ head: String) async throws -> String {
        let answer = try await RunningServer.with { running in
            String(decoding: try await running.wire.send(Array((head + "\r\n\r\n").utf8)), as: UTF8.self)
        }
        return answer.components(separatedBy: "\r\n")[0]
    }

    @Test(
        "A request with a missing, repeated, empty or malformed Host header gets status 400",
        arguments: [
            "GET /health/live HTTP/1.1", "GET /health/live HTTP/1.1\r\nHost: id.example.com\r\nHost: evil.example.com",
            "GET /health/live HTTP/1.1\r\nHost: id.example.com\r\nhost: id.example.com", "GET /health/live HTTP/1.1\r\nHost:",
            "GET /health/live HTTP/1.1\r\nHost: id.example.com, evil.example.com", "GET /health/live HTTP/1.1\r\nHost: a b",
            "GET /health/live HTTP/1.1\r\nHost: user@id.example.com", "GET /health/live HTTP/1.1\r\nHost: id.example.com/path",
            "GET /health/live HTTP/1.0\r\nHost: id.example.com\r\nHost: evil.example.com",
            "POST /oauth2/v1/token HTTP/1.1\r\nContent-Length: 0",
        ])
    func refused(head: String) async throws {
        #expect(try await Self.status(head) == "HTTP/1.1 400 Bad Request")
    }

    @Test(
        "A request with one valid Host header, and an HTTP/1.0 request without Host, get status 200",
        arguments: [
            "GET /health/live HTTP/1.0", "GET /health/live HTTP/1.0\r\nHost: 10.0.0.7:8080",
            "GET /health/live HTTP/1.1\r\nHost: [::1]:8080\r\nConnection: close",
            "GET /health/live HTTP/1.1\r\nHost: id.example.com\r\nConnection: close",
        ])
    func accepted(head: String) async throws {
        #expect(try await Self.status(head).hasSuffix(" 200 OK"))
    }

    @Test("A pipelined request without a Host header gets status 400, and the server answers no further request on the connection")
    func pipelined() async throws {
        let answer = try await RunningServer.with { running in
            let requests =
                "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n" + "GET /health/live HTTP/1.1\r\n\r\n"
                + "GET /health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            return String(decoding: try await running.wire.send(Array(requests.utf8)), as: UTF8.self)
        }
        #expect(answer.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0.prefix(3) } == ["200", "400"])
    }
}
