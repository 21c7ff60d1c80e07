internal import JOSE

/// A mail address of the plain form that RFC 5321 section 4.1.2 permits: letters, digits and some signs, one `@`, and a DNS name. It is
/// safe in a header and in an SMTP command without quoting: no space, control character, quote, bracket or non-ASCII character. Its
/// descriptions are masked.
package struct MailAddress: Sendable, Hashable {
    /// The address as written, with the domain in lower case.
    package let text: String

    /// Parses an address of at most 100 characters (Documentation/Protocol/Authn.md §5.1); `nil` if it is invalid or of an uncommon form.
    package init?(_ text: String) {
        guard text.utf8.count <= 100, let at = text.firstIndex(of: "@") else { return nil }
        let local = text[..<at]
        let domain = text[text.index(after: at)...].lowercased()
        guard (1...64).contains(local.utf8.count), local.utf8.allSatisfy(Self.isLocal), !local.hasPrefix("."), !local.hasSuffix("."),
            !local.contains(".."), Self.isDomain(domain)
        else { return nil }
        self.text = local + "@" + domain
    }

    /// The masked address: the first and last character before the `@`, and the domain (Documentation/Protocol/Authn.md §5.1).
    package var masked: String {
        guard let at = text.firstIndex(of: "@"), let first = text.first else { return "" }
        let last = at > text.index(after: text.startIndex) ? String(text[text.index(before: at)]) : ""
        return "\(first)...\(last)\(text[at...])"
    }

    /// Whether a byte is `atext` (RFC 5322 section 3.2.3) or the dot.
    private static func isLocal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-/=?^_`{|}~.".utf8.contains(byte)
        }
    }

    private static func isDomain(_ domain: String) -> Bool {
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        return domain.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                    && label.utf8.allSatisfy { byte in
                        switch byte {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
                        default: false
                        }
                    }
            }
    }
}

extension MailAddress: Redacted {
    package var description: String { masked }
}

extension MailAddress: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let address = MailAddress(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no mail address")
        }
        self = address
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
