/// Whom mails are from.
package struct MailSender: Sendable, Equatable {
    /// The address.
    package let address: String
    /// The name beside it; nil for none.
    package let name: String?

    /// Names a sender.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - name: The name beside it.
    /// - Throws: ``MessageConfigurationError`` if the address is none.
    package init(address: String, name: String? = nil) throws(MessageConfigurationError) {
        guard Self.isAddress(address) else {
            throw MessageConfigurationError("“\(address.prefix(100))” is no mail address that mails can be sent from.")
        }
        self.address = address
        self.name = name
    }

    /// What stands after the `@`.
    var domain: String { address.split(separator: "@").last.map(String.init) ?? "" }

    var header: String { name.map { "\(Self.phrase($0)) <\(address)>" } ?? "<\(address)>" }

    /// A name in front of an address: always an encoded word, since many signs have a meaning there.
    private static func phrase(_ name: String) -> String {
        let isPlain =
            !name.isEmpty && name.utf8.count <= 60
            && name.utf8.allSatisfy { byte in
                byte == 0x20 || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            }
        return isPlain ? name : MailMessage.encoded(name + "\u{200B}")
    }

    /// Whether a text can stand between angle brackets in a command and in a header: printable ASCII without space, brackets, quotes and
    /// separators, and one `@` with something on both sides.
    static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && text.utf8.count <= 254
            && parts.allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"<>()[]\\,;:\"".utf8.contains($0) }
            }
    }
}
