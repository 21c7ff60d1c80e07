import Foundation
import Testing

@testable import Delivery

@Suite("Mail messages")
struct MailMessageTests {
    static let start = Date(timeIntervalSince1970: 1_700_000_000)

    static func mail(_ change: (inout Mail) -> Void = { _ in }) -> Mail {
        var mail = Mail(
            id: "msg123", recipient: "jane@example.org", subject: "Your code", text: "Hello Jane,\n\n123456\n",
            html: "<p>123456</p>", expiresAt: start.addingTimeInterval(300))
        change(&mail)
        return mail
    }

    private func written(name: String? = "Example", _ change: (inout Mail) -> Void = { _ in }) throws -> String {
        try #require(MailMessage(Self.mail(change), from: MailSender(address: "id@example.com", name: name), now: Self.start)).text
    }

    @Test("A mail message has the required headers, an encoded text part, and short ASCII lines")
    func wholeMail() throws {
        let text = try written()
        let head = try #require(text.components(separatedBy: "\r\n\r\n").first)
        #expect(
            head.components(separatedBy: "\r\n").prefix(8) == [
                "Date: Tue, 14 Nov 2023 22:13:20 +0000", "From: Example <id@example.com>", "To: <jane@example.org>",
                "Message-ID: <msg123@example.com>", "Subject: Your code", "MIME-Version: 1.0", "Auto-Submitted: auto-generated",
                "Content-Language: en",
            ])
        let boundary = try #require(head.firstMatch(of: /boundary="([^"]+)"/)?.1)
        #expect(head.contains("\r\nContent-Type: multipart/alternative;\r\n boundary=\"\(boundary)\""))
        func part(_ type: String, _ content: String) -> String {
            let encoded = Data(content.utf8).base64EncodedString()
            return "\r\n--\(boundary)\r\nContent-Type: \(type); charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n\(encoded)"
        }
        let parts = part("text/plain", "Hello Jane,\n\n123456\n") + part("text/html", "<p>123456</p>") + "\r\n--\(boundary)--\r\n"
        #expect(text.hasSuffix(parts), "\(text)")
        #expect(text.hasSuffix("--\r\n"))
        #expect(text.components(separatedBy: "\r\n").allSatisfy { $0.utf8.count <= 78 })
        #expect(text.utf8.allSatisfy { $0 < 0x80 } && !text.replacing("\r\n", with: "").contains("\n"))
    }

    @Test(
        "A line break in user input can neither start a mail header nor end the mail",
        arguments: [
            "\r\nBcc: all@example.com", "\nBcc: all@example.com", "\rBcc: all@example.com", "\u{0}\u{85}\u{2028}Bcc: all@example.com",
        ])
    func injection(_ attack: String) throws {
        let text = try written(name: "Example" + attack) { mail in
            mail.subject = "Your code" + attack
            mail.language = "en" + attack
            mail.text = "Hello\r\n.\r\nQUIT\r\n" + attack
            mail.html = "--=_0" + attack
        }
        let lines = text.components(separatedBy: CharacterSet(charactersIn: "\r\n")).map { $0.lowercased() }
        #expect(!lines.contains { $0.hasPrefix("bcc") || $0 == "." || $0.hasPrefix("quit") })
        #expect(
            try #require(text.components(separatedBy: "\r\n\r\n").first).utf8.allSatisfy {
                (0x20...0x7E).contains($0) || $0 == 13 || $0 == 10
            })
    }

    @Test(
        "A mail message with an invalid recipient or an invalid ID is rejected",
        arguments: ["", "jane", "jane@example.org\r\nRCPT TO:<x@y>", "jane@example.org>", "j ane@example.org", "jäne@example.org"])
    func noAddress(_ address: String) throws {
        let sender = try MailSender(address: "id@example.com")
        #expect(MailMessage(Self.mail { $0.recipient = address }, from: sender, now: Self.start) == nil)
        #expect(MailMessage(Self.mail { $0.id = "a>\r\nX: y" }, from: sender, now: Self.start) == nil)
    }

    @Test("Mail headers encode text beyond ASCII as encoded words, without splitting a character")
    func encodedWords() {
        #expect(MailMessage.encoded("Plain text") == "Plain text")
        #expect(MailMessage.encoded("Grüße") == "=?utf-8?B?R3LDvMOfZQ==?=")
        let long = MailMessage.encoded(String(repeating: "語", count: 40))
        let words = long.components(separatedBy: "\r\n ")
        #expect(words.count > 1 && words.allSatisfy { $0.utf8.count <= 75 })
        let decoded = words.map { String(decoding: Data(base64Encoded: String($0.dropFirst(10).dropLast(2))) ?? Data(), as: UTF8.self) }
        #expect(decoded.joined() == String(repeating: "語", count: 40))
        // A text that resembles an encoded word is encoded, so that it is shown unchanged.
        #expect(MailMessage.encoded("=?utf-8?B?QQ==?=").hasPrefix("=?utf-8?B?PT91"))
    }
}
