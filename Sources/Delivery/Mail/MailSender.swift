package struct MailSender: Sendable, Equatable {
    package let address: String
    /// The display name; `nil` for none.
    package let name: String?

    package init(address: String, name: String? = nil) throws(MessageConfigurationError) {
        guard Self.isAddress(address) else {
            throw MessageConfigurationError("“\(address.prefix(100))” is no mail address that mails can be sent from.")
        }
        self.address = address
        self.name = name
    }

    /// The part after the `@`.
    var domain: String { address.split(separator: "@").last.map(String.init) ?? "" }

    var header: String { name.map { "\(Self.phrase($0)) <\(address)>" } ?? "<\(address)>" }

    /// Returns a display name for a header. A name that contains characters with a meaning in headers becomes an encoded word.
    private static func phrase(_ name: String) -> String {
        let isPlain =
            !name.isEmpty && name.utf8.count <= 60
            && name.utf8.allSatisfy { byte in
                byte == 0x20 || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            }
        return isPlain ? name : MailMessage.encoded(name + "\u{200B}")
    }

    /// Returns whether a text is safe between angle brackets in a command and in a header: printable ASCII without spaces, brackets, quotes
    /// and separators, and one `@` with text on both sides.
    static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && text.utf8.count <= 254
            && parts.allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"<>()[]\\,;:\"".utf8.contains($0) }
            }
    }
}
