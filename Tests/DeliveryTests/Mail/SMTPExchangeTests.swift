import Foundation
import Testing

@testable import Delivery

@Suite("SMTP exchange")
struct SMTPExchangeTests {
    private static let message = "Subject: x\r\n\r\nbody\r\n"

    private func exchange(
        _ security: SMTPConfiguration.Security = .startTLS, credentials: SMTPConfiguration.Credentials? = .init(user: "me", password: "pw")
    ) throws -> SMTPExchange {
        let configuration = try SMTPConfiguration(
            host: "127.0.0.1", security: security, credentials: credentials, sender: MailSender(address: "id@example.com"))
        return SMTPExchange(configuration, sender: "id@example.com", recipient: "jane@example.org", message: Self.message)
    }

    private func reply(_ code: Int, _ lines: String...) -> SMTPReply { SMTPReply(code: code, lines: lines.isEmpty ? ["text"] : lines) }

    @Test("The SMTP client starts TLS, authenticates, and then sends the mail")
    func wholeExchange() throws {
        var exchange = try exchange()
        #expect(exchange.received(reply(220)) == .send("EHLO example.com\r\n"))
        #expect(exchange.received(reply(250, "hello", "STARTTLS", "AUTH PLAIN")) == .send("STARTTLS\r\n"))
        #expect(exchange.received(reply(220)) == .startTLS(thenSend: "EHLO example.com\r\n"))
        #expect(exchange.received(reply(250, "hello", "SIZE 1000", "auth LOGIN PLAIN")) == .send("AUTH PLAIN AG1lAHB3\r\n"))
        #expect(exchange.received(reply(235)) == .send("MAIL FROM:<id@example.com>\r\n"))
        #expect(exchange.received(reply(250)) == .send("RCPT TO:<jane@example.org>\r\n"))
        #expect(exchange.received(reply(250)) == .send("DATA\r\n"))
        #expect(exchange.received(reply(354)) == .send(Self.message + ".\r\n"))
        #expect(exchange.received(reply(250)) == .end(.accepted, sending: "QUIT\r\n"))
    }

    @Test("The SMTP client uses AUTH LOGIN if the server does not offer PLAIN, and does not authenticate if no password is configured")
    func login() throws {
        var exchange = try exchange(.implicitTLS)
        _ = exchange.received(reply(220))
        #expect(exchange.received(reply(250, "hello", "AUTH LOGIN")) == .send("AUTH LOGIN\r\n"))
        #expect(exchange.received(reply(334)) == .send("bWU=\r\n"))
        #expect(exchange.received(reply(334)) == .send("cHc=\r\n"))
        #expect(exchange.received(reply(235)) == .send("MAIL FROM:<id@example.com>\r\n"))
        var open = try self.exchange(.implicitTLS, credentials: nil)
        _ = open.received(reply(220))
        #expect(open.received(reply(250, "hello", "AUTH LOGIN")) == .send("MAIL FROM:<id@example.com>\r\n"))
    }

    @Test("The SMTP client sends neither password nor mail if the server does not offer STARTTLS")
    func stripped() throws {
        for lines in [["hello"], ["STARTTLS"], ["hello", "AUTH PLAIN"], ["hello", "XSTARTTLS"]] {
            var exchange = try exchange()
            _ = exchange.received(reply(220))
            let action = exchange.received(SMTPReply(code: 250, lines: lines))
            #expect(action == .end(.refused("the server offers no STARTTLS"), sending: "QUIT\r\n"), "\(lines)")
        }
    }

    @Test("The SMTP client ignores capabilities that the server offered before the encryption")
    func offersOfBefore() throws {
        var exchange = try exchange()
        _ = exchange.received(reply(220))
        _ = exchange.received(reply(250, "hello", "STARTTLS", "AUTH PLAIN"))
        _ = exchange.received(reply(220))
        #expect(
            exchange.received(reply(250, "hello"))
                == .end(.refused("the server offers neither AUTH PLAIN nor AUTH LOGIN"), sending: "QUIT\r\n"))
    }

    @Test(
        "After a permanent SMTP error the mail is rejected, and after a temporary error the mail is retried",
        arguments: [
            (0, 554, SMTPExchange.Ending.refused("554 at greeting")), (0, 451, .retry("451 at greeting")),
            (2, 535, .refused("535 at plain")),
            (4, 550, .refused("550 at recipient")), (4, 450, .retry("450 at recipient")), (6, 552, .refused("552 at body")),
            (3, 421, .retry("421")), (6, 421, .unanswered), (5, 250, .refused("250 at data")),
        ])
    func endings(_ step: Int, _ code: Int, _ ending: SMTPExchange.Ending) throws {
        var exchange = try exchange(.implicitTLS)
        let fine = [220, 250, 235, 250, 250, 354, 250]
        for number in 0..<step { _ = exchange.received(reply(fine[number], "hello", "AUTH PLAIN")) }
        guard case .end(let found, _) = exchange.received(reply(code)) else { throw ItGoesOn() }
        #expect(found == ending)
        // Data after the end has no effect.
        guard case .end = exchange.received(reply(250)) else { throw ItGoesOn() }
    }

    private struct ItGoesOn: Error {}

    @Test("The SMTP client retries a mail if the connection breaks before the content is sent, but not afterwards")
    func disconnected() throws {
        var early = try exchange(.implicitTLS)
        _ = early.received(reply(220))
        #expect(early.disconnected() == .retry("the connection ended"))
        var late = try exchange(.implicitTLS)
        for code in [220, 250, 235, 250, 250, 354] { _ = late.received(reply(code, "hello", "AUTH PLAIN")) }
        #expect(late.disconnected() == .unanswered)
    }

    @Test("The SMTP client doubles a dot at the start of a line, so that no content can end the mail")
    func stuffing() {
        #expect(SMTPExchange.stuffed(".a\r\n.\r\nb") == "..a\r\n..\r\nb\r\n")
        #expect(SMTPExchange.stuffed("a\r\n") == "a\r\n")
    }

    @Test("The SMTP client parses replies of several lines, even if the replies arrive byte by byte")
    func reading() throws {
        let text = "220-one\r\n220 two\r\n250-a\r\n250 b\r\n"
        var reader = SMTPReply.Reader()
        var replies: [SMTPReply] = []
        for byte in text.utf8 { replies += try reader.read([byte]) }
        #expect(replies == [SMTPReply(code: 220, lines: ["one", "two"]), SMTPReply(code: 250, lines: ["a", "b"])])
        #expect(reader.isEmpty)
        _ = try reader.read("25".utf8)
        #expect(!reader.isEmpty)
    }

    @Test(
        "The SMTP client rejects a malformed reply",
        arguments: [
            "HTTP/1.1 400 Bad\r\n", "220\u{0}x\r\n", "99 x\r\n", "600 x\r\n", "220-a\r\n250 b\r\n", "\r\n",
            String(repeating: "a", count: 3_000), String(repeating: "220-a\r\n", count: 200),
        ])
    func malformed(_ text: String) {
        var reader = SMTPReply.Reader()
        #expect(throws: SMTPReply.Reader.Malformed.self) { _ = try reader.read(text.utf8) }
    }

    @Test("An SMTP configuration without TLS is rejected for a remote host, and no description of the credentials contains the password")
    func configuration() throws {
        let sender = try MailSender(address: "id@example.com")
        #expect(throws: MessageConfigurationError.self) {
            _ = try SMTPConfiguration(host: "mail.example.com", security: .insecureOnThisMachine, sender: sender)
        }
        for address in ["", "x", "a@b\r\nQUIT", "a b@c", "a@b>c", "a@b@c"] {
            #expect(throws: MessageConfigurationError.self) { _ = try MailSender(address: address) }
        }
        let credentials = SMTPConfiguration.Credentials(user: "me", password: "geheim")
        #expect(!"\(credentials)".contains("geheim") && !String(reflecting: credentials).contains("geheim"))
    }
}
