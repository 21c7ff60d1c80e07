import AuthorizationServer
import NIOSSL
import Testing

@Suite("Attacks: weak cipher suites")
struct CipherSuiteAttackTests {
    private static func status(_ change: @Sendable (inout TLSConfiguration) -> Void) async throws -> Int? {
        let configuration = AuthorizationServer.Configuration(
            port: 0, tls: .init(certificateChain: .text(TestCertificate.certificate), privateKey: .text(TestCertificate.privateKey)))
        return try await RunningServer.fresh(configuration: configuration) { running in
            var client = TLSConfiguration.makeClientConfiguration()
            client.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(TestCertificate.certificate.utf8)))
            change(&client)
            let wire = WireClient(port: running.wire.port, tls: try NIOSSLContext(configuration: client))
            let request = "GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            let answer = (try? await wire.send(Array(request.utf8))) ?? []
            return answer.isEmpty ? nil : try WireResponse(parsing: answer).status
        }
    }

    @Test(
        "A client that offers only CBC suites, or only suites without forward secrecy, gets no TLS 1.2 connection",
        arguments: [
            NIOTLSCipher.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, .TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
            .TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, .TLS_RSA_WITH_AES_128_CBC_SHA, .TLS_RSA_WITH_AES_128_GCM_SHA256,
        ])
    func refused(cipher: NIOTLSCipher) async throws {
        let status = try await Self.status {
            $0.maximumTLSVersion = .tlsv12
            $0.cipherSuiteValues = [cipher]
        }
        #expect(status == nil)
    }

    @Test(
        "A client that offers an authenticated cipher suite with forward secrecy gets a TLS 1.2 connection",
        arguments: [
            NIOTLSCipher.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
            .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        ])
    func accepted(cipher: NIOTLSCipher) async throws {
        let status = try await Self.status {
            $0.maximumTLSVersion = .tlsv12
            $0.cipherSuiteValues = [cipher]
        }
        #expect(status == 200)
    }
}
