/// A server's reply: a three-digit code and lines of text (RFC 5321 section 4.2).
struct SMTPReply: Sendable, Equatable {
    var code: Int
    var lines: [String]

    /// Parses replies from bytes as they arrive.
    struct Reader {
        /// The maximum length of a line, in bytes. No reply of a mail server needs longer lines.
        static let longestLine = 2_048
        /// The maximum number of lines of a reply. No reply of a mail server needs more lines.
        static let mostLines = 100

        struct Malformed: Error {}

        private var pending: [UInt8] = []
        private var code: Int?
        private var lines: [String] = []

        /// Whether no incomplete reply is buffered.
        var isEmpty: Bool { pending.isEmpty && lines.isEmpty }

        /// Adds bytes and returns the replies that they complete.
        mutating func read(_ bytes: some Sequence<UInt8>) throws(Malformed) -> [SMTPReply] {
            var replies: [SMTPReply] = []
            for byte in bytes {
                guard byte == UInt8(ascii: "\n") else {
                    pending.append(byte)
                    guard pending.count <= Self.longestLine else { throw Malformed() }
                    continue
                }
                if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
                if let reply = try line(pending) { replies.append(reply) }
                pending.removeAll(keepingCapacity: true)
            }
            return replies
        }

        private mutating func line(_ bytes: [UInt8]) throws(Malformed) -> SMTPReply? {
            guard bytes.count >= 3, let number = Int(String(decoding: bytes[..<3], as: UTF8.self)), (200...599).contains(number),
                code == nil || code == number, lines.count < Self.mostLines
            else { throw Malformed() }
            let separator = bytes.count > 3 ? bytes[3] : UInt8(ascii: " ")
            guard separator == UInt8(ascii: " ") || separator == UInt8(ascii: "-") else { throw Malformed() }
            code = number
            lines.append(String(decoding: bytes.dropFirst(4), as: UTF8.self))
            guard separator == UInt8(ascii: " ") else { return nil }
            defer {
                code = nil
                lines = []
            }
            return SMTPReply(code: number, lines: lines)
        }
    }
}
