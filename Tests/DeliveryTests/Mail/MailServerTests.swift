import Delivery
import Foundation
import JOSE
import NIOSSL
import TestSupport
import Testing

@testable import CountersignSandbox

/// Tests mail to the server aiosmtpd. Python's mail parser reads the received messages.
@Suite(
    "Mail to an independent server", .enabled(if: OutsidePart.python.isEnabled, Comment(rawValue: OutsidePart.python.missingNote)),
    .timeLimit(.minutes(2)))
struct MailServerTests {
    private static let password = "Paßwort, \"geheim\""

    private struct Server: Sendable {
        var process: ChildProcess
        var port: Int
        var trust: NIOSSLTrustRoots
        var logs = RecordedLogs()
        let folder: TemporaryFolder

        init(mechanism: String = "PLAIN") async throws {
            folder = TemporaryFolder()
            try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
            // As for most mail servers, the certificate is for a name, and its authority has no constraints for addresses.
            let issued = try PushGatewayCertificate(now: Date())
            let (chain, key) = (folder.url.appending(path: "chain.pem"), folder.url.appending(path: "key.pem"))
            try Data(issued.certificatePEM.utf8).write(to: chain)
            try Data(issued.keyPEM.utf8).write(to: key)
            process = try ChildProcess(
                OutsidePart.python.executable,
                [OutsidePart.scripts.appending(path: "smtp_server.py").path, chain.path, key.path, mechanism])
            let text = try await process.waitFor("port ")
            let more = try await process.waitFor("\n")
            port = try #require(
                Int((text.components(separatedBy: "port ").last ?? "") + more.trimmingCharacters(in: .whitespacesAndNewlines)))
            trust = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(issued.authorityPEM.utf8)))
        }

        func sender(
            password: String = MailServerTests.password, trust: NIOSSLTrustRoots? = nil, host: String = "localhost"
        ) throws -> SMTPSender {
            SMTPSender(
                try SMTPConfiguration(
                    host: host, port: port, credentials: .init(user: "post@example.com", password: password),
                    sender: MailSender(address: "id@example.com", name: "Bücher & Café"), trust: trust ?? self.trust,
                    retry: RetryPolicy(attempts: 1)),
                timing: PushTiming(now: { Date(timeIntervalSince1970: 1_700_000_000) }, sleep: { _ in }), logger: logs.logger)
        }

        /// Waits for this text in the server's output, and returns its line as JSON.
        func line(with text: String) async throws -> JSONValue {
            var line = try await process.waitFor(text)
            line += try await process.waitFor("\n")
            let json = try #require(line.split(separator: "\n").last { $0.contains(text) })
            return try JSONValue(parsing: Array(json.utf8))
        }
    }

    private func mail(_ recipient: String = "jane@example.org") -> Message {
        .mail(
            Mail(
                id: "msg123", recipient: recipient, subject: "Ihr Code für „Grüße“", text: "Hallo Jäne,\n\n.\n123456\n",
                html: "<!doctype html>\n<p lang=\"de\">Grüße: 123456</p>\n", language: "de",
                expiresAt: Date(timeIntervalSince1970: 1_700_000_300)))
    }

    @Test("An independent mail server receives a mail unchanged, over TLS and after authentication", arguments: ["PLAIN", "LOGIN"])
    func delivered(_ mechanism: String) async throws {
        let server = try await Server(mechanism: mechanism)
        try #require(try await server.sender().send(mail()) == .delivered(id: "msg123"))
        let auth = try await server.line(with: "\"auth\"")
        #expect(auth["auth"]?.stringValue == mechanism && auth["right"] == true && auth["tls"] == true)
        let received = try await server.line(with: "\"recipients\"")
        #expect(received["tls"] == true)
        #expect(received["sender"] == "id@example.com" && received["recipients"] == ["jane@example.org"])
        #expect(received["defects"] == [])
        let headers = (received["headers"]?.arrayValue ?? []).reduce(into: [String: String]()) { all, pair in
            all[pair.arrayValue?.first?.stringValue ?? ""] = pair.arrayValue?.last?.stringValue
        }
        #expect(headers["Subject"] == "Ihr Code für „Grüße“")
        #expect(headers["From"]?.replacing("\u{200B}", with: "").contains("Bücher & Café") == true)
        #expect(headers["To"] == "jane@example.org" && headers["Message-ID"] == "<msg123@example.com>")
        #expect(received["text"] == "Hallo Jäne,\n\n.\n123456\n")
        #expect(received["html"] == "<!doctype html>\n<p lang=\"de\">Grüße: 123456</p>\n")
        #expect((received["longest"]?.integerValue ?? 999) <= 78)
        server.process.kill()
    }

    @Test("Sending a mail fails if the password is wrong, the mailbox is unknown or the server's certificate is untrusted")
    func refused() async throws {
        let server = try await Server()
        #expect(try await server.sender(password: "falsch").send(mail()) == .refused(reason: "535 at plain"))
        #expect(try await server.sender().send(mail("unknown@example.org")) == .refused(reason: "550 at recipient"))
        guard case .gaveUp(let reason) = try await server.sender(trust: .certificates([])).send(mail()) else { throw WasTaken() }
        #expect(reason.contains("too many tries"))
        // The log contains neither the message nor its destination. It also lacks the server's response, which names the mailbox.
        let log = server.logs.lines.joined(separator: "\n")
        #expect(!log.contains("example.org") && !log.contains("123456") && !log.contains("geheim") && !log.contains("falsch"))
        server.process.kill()
    }

    private struct WasTaken: Error {}

    @Test("Sending a mail fails if no mail server is running on the host")
    func nobodyListens() async throws {
        let server = try await Server()
        server.process.kill()
        _ = await server.process.end()
        guard case .gaveUp = try await server.sender().send(mail()) else { throw WasTaken() }
    }
}
