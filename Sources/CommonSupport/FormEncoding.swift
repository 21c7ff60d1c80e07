/// The format `application/x-www-form-urlencoded`, for bodies and for URL queries.
package enum FormEncoding {
    /// Encodes the fields, sorted by name, with each space as `+`.
    package static func body(_ fields: [(String, String)]) -> String {
        joined(fields, escaped: bodyEscaped)
    }

    /// Appends fields, sorted by name, to a URL query. Returns `nil` if the result is empty.
    package static func query(adding fields: [(String, String)], to query: String?) -> String? {
        let parts = [query, joined(fields, escaped: escaped)].compactMap { $0 }.filter { !$0.isEmpty }
        return parts.isEmpty ? nil : parts.joined(separator: "&")
    }

    private static func joined(_ fields: [(String, String)], escaped: (String) -> String) -> String {
        fields.sorted { $0 < $1 }.map { "\(escaped($0.0))=\(escaped($0.1))" }.joined(separator: "&")
    }

    /// Converts line feeds to CR LF, as the format requires, and escapes all characters except unreserved ones.
    private static func bodyEscaped(_ text: String) -> String {
        let lines = text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n")
        return escaped(lines).replacing("%20", with: "+")
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    private static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the byte is a letter, a digit or one of `-._~*`.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-._~*".utf8.contains(byte)
        }
    }
}
