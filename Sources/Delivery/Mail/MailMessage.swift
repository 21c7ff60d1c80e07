internal import Crypto
internal import Foundation

/// A mail in its wire format (RFC 5322, RFC 2045 to 2047): ASCII, with lines of at most 76 characters that end in CR LF. Header values are
/// validated addresses, dates, IDs or encoded words, so that no input can add a header. Bodies are Base64, so that no line of them can be
/// an SMTP command.
struct MailMessage: Sendable {
    let text: String

    /// Formats a mail; `nil` if the recipient's address or the ID is invalid.
    init?(_ mail: Mail, from sender: MailSender, now: Date) {
        guard MailSender.isAddress(mail.recipient), let id = Self.identifier(mail.id) else { return nil }
        // The boundary is derived from a digest of the bodies, so that the bodies cannot contain it.
        let digest = SHA256.hash(data: Data((mail.text + "\u{0}" + mail.html).utf8)).prefix(12)
        let boundary = "=_" + digest.map { String($0, radix: 16) }.joined(separator: "_")
        let lines =
            [
                "Date: \(Self.date(now))",
                "From: \(sender.header)",
                "To: <\(mail.recipient)>",
                "Message-ID: <\(id)@\(sender.domain)>",
                "Subject: \(Self.encoded(mail.subject))",
                "MIME-Version: 1.0",
                // RFC 3834: suppresses automatic replies.
                "Auto-Submitted: auto-generated",
                "Content-Language: \(Self.language(mail.language))",
                "Content-Type: multipart/alternative;", " boundary=\"\(boundary)\"",
                "",
            ] + Self.part(mail.text, type: "text/plain", boundary: boundary)
            + Self.part(mail.html, type: "text/html", boundary: boundary) + ["--\(boundary)--", ""]
        text = lines.joined(separator: "\r\n")
    }

    private static func part(_ content: String, type: String, boundary: String) -> [String] {
        let encoded = Data(content.utf8).base64EncodedString(options: [
            .lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed,
        ])
        return ["--\(boundary)", "Content-Type: \(type); charset=utf-8", "Content-Transfer-Encoding: base64", "", encoded]
    }

    /// Returns a text for a header: a short line of ASCII unchanged, otherwise encoded words of whole characters (RFC 2047).
    static func encoded(_ text: String) -> String {
        let line = String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
        let isPlain = line.utf8.count <= 60 && line.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !line.contains("=?")
        if isPlain { return line }
        var words: [String] = []
        var bytes: [UInt8] = []
        for scalar in line.prefix(500).unicodeScalars {
            let more = Array(String(scalar).utf8)
            // 45 bytes are 60 characters of Base64. An encoded word has at most 75 characters.
            if bytes.count + more.count > 45 {
                words.append(word(bytes))
                bytes = []
            }
            bytes += more
        }
        words.append(word(bytes))
        return words.joined(separator: "\r\n ")
    }

    private static func word(_ bytes: [UInt8]) -> String { "=?utf-8?B?\(Data(bytes).base64EncodedString())?=" }

    private static func identifier(_ id: String) -> String? {
        let isPlain = id.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || byte == UInt8(ascii: "-")
        }
        return isPlain && (1...64).contains(id.utf8.count) ? id : nil
    }

    private static func language(_ tag: String) -> String { identifier(tag) ?? "en" }

    /// Returns a date in UTC (RFC 5322 section 3.3).
    static func date(_ date: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second, .weekday], from: date)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ number: Int?) -> String { (number ?? 0) < 10 ? "0\(number ?? 0)" : "\(number ?? 0)" }
        return "\(days[(parts.weekday ?? 1) - 1]), \(parts.day ?? 1) \(months[(parts.month ?? 1) - 1]) \(parts.year ?? 1970) "
            + "\(two(parts.hour)):\(two(parts.minute)):\(two(parts.second)) +0000"
    }
}
