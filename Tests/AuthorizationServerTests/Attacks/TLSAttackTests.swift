import AuthorizationServer
import NIOCore
import NIOPosix
import NIOSSL
import TestSupport
import Testing

/// Attackers who send malicious bytes to the TLS port of `serve`. After each attack, the server still answers other clients.
@Suite("Attacks: TLS", .timeLimit(.minutes(2)))
struct TLSAttackTests {
    /// The first message of a TLS handshake (RFC 5246 §7.4.1.2), with values that the attacker chooses.
    private struct ClientHello {
        /// The newest version that the client offers: 0x0303 is TLS 1.2.
        var version: UInt16 = 0x0303
        var suites: [UInt16] = [0xC02B, 0xC02F]
        /// The encoded extensions: curves, point formats and signature algorithms.
        var extensions: [UInt8] =
            [0x00, 0x0A, 0x00, 0x04, 0x00, 0x02, 0x00, 0x17, 0x00, 0x0B, 0x00, 0x02, 0x01, 0x00]
            + [0x00, 0x0D, 0x00, 0x06, 0x00, 0x04, 0x04, 0x03, 0x04, 0x01]

        private static func bytes(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

        var record: [UInt8] {
            var body = Self.bytes(version) + [UInt8](repeating: 7, count: 32) + [0]
            body += Self.bytes(UInt16(suites.count * 2)) + suites.flatMap(Self.bytes) + [1, 0]
            body += Self.bytes(UInt16(extensions.count)) + extensions
            let handshake = [1, 0] + Self.bytes(UInt16(body.count)) + body
            return [0x16] + Self.bytes(min(version, 0x0301)) + Self.bytes(UInt16(handshake.count)) + handshake
        }
    }

    private static func with(
        limits: AuthorizationServer.Configuration.Limits = .init(), _ body: @Sendable (RunningServer) async throws -> Void
    ) async throws {
        let configuration = AuthorizationServer.Configuration(
            port: 0, tls: .init(certificateChain: .text(TestCertificate.certificate), privateKey: .text(TestCertificate.privateKey)),
            limits: limits)
        try await RunningServer.fresh(configuration: configuration) { running in
            try await body(running)
            // The server still answers other clients.
            #expect(try await tls(running).get("/health/live").status == 200)
        }
    }

    private static func tls(
        _ running: RunningServer, _ change: (inout TLSConfiguration) -> Void = { _ in }
    ) throws -> WireClient {
        var client = TLSConfiguration.makeClientConfiguration()
        client.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(TestCertificate.certificate.utf8)))
        change(&client)
        return WireClient(port: running.wire.port, tls: try NIOSSLContext(configuration: client))
    }

    /// Returns the alert (RFC 5246 §7.2) that ends a connection, or `nil` if the response is not an alert.
    private static func alert(_ answer: [UInt8]) -> UInt8? {
        answer.count >= 7 && answer[0] == 0x15 && answer[5] == 2 ? answer[6] : nil
    }

    @Test(
        "A TLS handshake with a version older than TLS 1.2 is rejected with the alert protocol_version",
        arguments: [0x0300, 0x0301, 0x0302] as [UInt16])
    func oldVersions(version: UInt16) async throws {
        try await Self.with { running in
            let answer = try await running.wire.send(
                ClientHello(version: version, suites: [0xC009, 0xC00A, 0xC013, 0x002F, 0x0035]).record)
            // 70 is protocol_version.
            #expect(Self.alert(answer) == 70, "\(answer.prefix(16))")
        }
    }

    @Test("A TLS client that reports a fallback from a newer version gets the alert inappropriate_fallback (RFC 7507)")
    func downgrade() async throws {
        try await Self.with { running in
            let answer = try await running.wire.send(ClientHello(suites: [0xC02B, 0x5600]).record)
            // 86 is inappropriate_fallback.
            #expect(Self.alert(answer) == 86, "\(answer.prefix(16))")
        }
    }

    @Test(
        "A TLS handshake that offers no cipher suite, or only weak or unknown cipher suites, is rejected with an alert",
        arguments: [
            [0x0000, 0x0001, 0x0002, 0x003B, 0xC006, 0xC010], [0x0004, 0x0005, 0xC007, 0xC011], [0x000A, 0xC008, 0xC012, 0x0016],
            [0x0003, 0x0006, 0x0008, 0x0014], [0x0018, 0x001B, 0x0034, 0x006C, 0x00A6, 0xC018, 0xC019], [0x009C, 0x009D, 0x002F, 0x0035],
            [0x0033, 0x0039, 0x009E, 0x009F], [0x008C, 0x00A8, 0xC0A4], [0x0BAD], [],
            // CBC suites for the key type of this server's certificate.
            [0xC009, 0xC00A], [0xC023, 0xC024],
        ] as [[UInt16]])
    func weakSuites(suites: [UInt16]) async throws {
        try await Self.with { running in
            let answer = try await running.wire.send(ClientHello(suites: suites).record)
            // 40 is handshake_failure, 47 illegal_parameter, 50 decode_error.
            #expect([40, 47, 50].contains(Self.alert(answer)), "\(answer.prefix(16))")
        }
    }

    @Test(
        "Plain HTTP, SSL 2, HTTP/2 and other protocols at the TLS port get no response in their protocol",
        arguments: [
            "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n", "POST /oauth2/v1/token HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "EHLO localhost\r\n", "SSH-2.0-x\r\n", "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}",
            "\u{16}\u{3}\u{1}\u{0}\u{0}\u{16}\u{3}\u{1}\u{0}\u{0}",
        ])
    func plainText(text: String) async throws {
        try await Self.with(limits: .init(idleTimeout: .milliseconds(500))) { running in
            let answer = try await running.wire.send(Array(text.utf8))
            #expect(!answer.starts(with: Array("HTTP/".utf8)) && answer.count < 64, "\(String(decoding: answer, as: UTF8.self))")
        }
    }

    private static func message(_ head: [UInt8], then byte: UInt8 = 0, _ count: Int = 0) -> [UInt8] {
        head + [UInt8](repeating: byte, count: count)
    }

    static let oversizedMessages: [[UInt8]] = [
        message([0x16, 0x03, 0x01, 0xFF, 0xFF], then: 1, 70_000),
        message([0x16, 0x03, 0x01, 0x40, 0x00, 0x01, 0xFF, 0xFF, 0xFF], then: 0, 16_380),
        message([0x17, 0x03, 0x03, 0x00, 0x05, 1, 2, 3, 4, 5]), message([0x14, 0x03, 0x03, 0x00, 0x01, 0x01]),
        message([0x18, 0x03, 0x03, 0x00, 0x03, 1, 0x40, 0]),
        message([0x80, 0x2E, 0x01, 0x00, 0x02, 0x00, 0x15, 0x00, 0x00, 0x00, 0x10], then: 5, 40),
    ]

    /// The alert for each of these messages: 22 is record_overflow, 47 illegal_parameter, 10 unexpected_message, 70 protocol_version.
    private static let oversizedAlerts: [UInt8] = [22, 47, 10, 10, 10, 70]

    @Test("A TLS record or handshake message that is larger than TLS allows or out of order is rejected", arguments: oversizedMessages)
    func oversized(bytes: [UInt8]) async throws {
        try await Self.with(limits: .init(idleTimeout: .seconds(1))) { running in
            let answer = try await running.wire.send(bytes)
            #expect(answer.count < 64 && answer.first != 0x16, "\(answer.prefix(16))")
            let index = try #require(Self.oversizedMessages.firstIndex(of: bytes))
            // The server does not read all of the first message. The reset of its connection can overtake the alert.
            #expect(Self.alert(answer) == Self.oversizedAlerts[index] || index == 0 && answer.isEmpty, "\(answer)")
        }
    }

    static let unfinished: [[UInt8]] = [
        [], [0x16], [0x16, 0x03, 0x01, 0x02, 0x00, 0x01], Array(ClientHello().record.dropLast(3)),
    ]

    @Test("A connection to the TLS port that does not begin or complete its handshake in time is closed", arguments: unfinished)
    func slowHandshake(bytes: [UInt8]) async throws {
        try await Self.with(limits: .init(idleTimeout: .milliseconds(300))) { running in
            // Each call returns when the server has closed the connection.
            let answers = try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<20 { group.addTask { try await running.wire.send(bytes) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.count < 64 && $0.first != 0x16 })
        }
    }

    @Test("A connection that sends no complete request after its TLS handshake is closed")
    func silentClient() async throws {
        try await Self.with(limits: .init(idleTimeout: .milliseconds(300))) { running in
            let begun = try await Self.tls(running).send(Array("GET /health/live HT".utf8))
            let silent = try await Self.tls(running).send([])
            #expect(begun.isEmpty && silent.isEmpty)
        }
    }

    @Test("An HTTPS request succeeds whether the TLS client sends no server name, the right name or another name")
    func serverNames() async throws {
        try await Self.with { running in
            var seen: Set<String> = []
            for name in [nil, "localhost", "evil.example", "id.example.com", String(repeating: "a", count: 60) + ".example"] {
                let wire = try Self.tls(running) { $0.certificateVerification = .noHostnameVerification }
                let answer = try WireResponse(
                    parsing: try await wire.send(
                        Array("GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8), serverName: name))
                #expect(answer.status == 200, "\(name ?? "none")")
                // The date and the request's id differ between any two requests.
                let headers = answer.headers.map { ["Date", "x-okta-request-id"].contains($0.name) ? $0.name : "\($0.name): \($0.value)" }
                seen.insert("\(answer.status) \(headers) \(answer.body)")
            }
            #expect(seen.count == 1, "\(seen)")
        }
    }

    @Test("A client that supports only TLS 1.2 or only TLS 1.3 can connect, and a client that supports at most TLS 1.1 cannot connect")
    func versions() async throws {
        try await Self.with { running in
            for version in [TLSVersion.tlsv12, .tlsv13] {
                let wire = try Self.tls(running) {
                    $0.minimumTLSVersion = version
                    $0.maximumTLSVersion = version
                }
                #expect(try await wire.get("/health/live").status == 200)
            }
            for version in [TLSVersion.tlsv1, .tlsv11] {
                let wire = try Self.tls(running) {
                    $0.minimumTLSVersion = .tlsv1
                    $0.maximumTLSVersion = version
                }
                // The handshake fails with an error or an empty response.
                let answer = try? await wire.send(Array("GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8))
                #expect(answer?.isEmpty ?? true)
            }
        }
    }
}
