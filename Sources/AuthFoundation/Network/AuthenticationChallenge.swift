/// A challenge of the header `WWW-Authenticate` (RFC 9110 §11.6.1).
struct AuthenticationChallenge: Equatable, Sendable {
    /// The maximum size of a header in bytes. Longer headers are ignored.
    static let maximumHeaderSize = 8192

    /// The scheme in lower case.
    let scheme: String
    /// The parameters, with names in lower case; empty for a challenge with a `token68` instead of parameters.
    private(set) var parameters: [String: String] = [:]

    /// Returns the challenges of a header, in order. A header can contain several challenges, also of the same scheme.
    /// Reading stops at the first error; the challenges before the malformed one are returned. A challenge with a repeated parameter counts
    /// as malformed.
    static func all(in header: String) -> [AuthenticationChallenge] {
        guard header.utf8.count <= maximumHeaderSize else { return [] }
        var reader = ChallengeReader(rest: Array(header.utf8)[...])
        var complete: [AuthenticationChallenge] = []
        var current: AuthenticationChallenge?
        while true {
            let isSeparated = reader.skipSeparators() || current == nil
            guard !reader.isAtEnd else { return complete + (current.map { [$0] } ?? []) }
            guard let word = reader.token()?.lowercased() else { return complete }
            let hasSpace = reader.skipSpaces()
            if current != nil, reader.skip(UInt8(ascii: "=")) {
                reader.skipSpaces()
                guard let value = reader.value(), reader.isAtSeparator, current?.parameters.updateValue(value, forKey: word) == nil else {
                    return complete
                }
            } else {
                guard isSeparated, hasSpace || reader.isAtSeparator else { return complete }
                if let current { complete.append(current) }
                current = AuthenticationChallenge(scheme: word)
                reader.skipToken68()
            }
        }
    }
}

/// A reader of the parts of a `WWW-Authenticate` header. Works on bytes, because the syntax is ASCII.
private struct ChallengeReader {
    var rest: ArraySlice<UInt8>

    var isAtEnd: Bool { rest.isEmpty }
    /// Whether the next character is a comma or the end of the header.
    var isAtSeparator: Bool { rest.first.map { $0 == UInt8(ascii: ",") } ?? true }

    /// Skips spaces and commas. Returns whether there was a comma.
    mutating func skipSeparators() -> Bool {
        let skipped = rest.prefix { $0 == UInt8(ascii: ",") || Self.isSpace($0) }
        rest = rest.dropFirst(skipped.count)
        return skipped.contains(UInt8(ascii: ","))
    }

    /// Skips spaces. Returns whether there was one.
    @discardableResult mutating func skipSpaces() -> Bool {
        let count = rest.count
        rest = rest.drop(while: Self.isSpace)
        return rest.count < count
    }

    /// Skips a character. Returns whether it was the next one.
    mutating func skip(_ character: UInt8) -> Bool {
        guard rest.first == character else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Skips a `token68`, such as that of the scheme `Negotiate`. Does nothing if parameters or another challenge follow.
    mutating func skipToken68() {
        let text = rest.drop { Self.isTokenCharacter($0) || $0 == UInt8(ascii: "/") }
        let following = text.drop { $0 == UInt8(ascii: "=") }.drop(while: Self.isSpace)
        if text.startIndex > rest.startIndex, following.first.map({ $0 == UInt8(ascii: ",") }) ?? true { rest = following }
    }

    /// Returns the next token; `nil` if there is none.
    mutating func token() -> String? {
        let bytes = rest.prefix(while: Self.isTokenCharacter)
        rest = rest.dropFirst(bytes.count)
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the value of a parameter, a token or a quoted string, and skips the spaces after it; `nil` if it is malformed.
    mutating func value() -> String? {
        defer { skipSpaces() }
        guard skip(UInt8(ascii: "\"")) else { return token() }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), Self.isText(escaped) else { return nil }
                bytes.append(escaped)
            default:
                guard Self.isText(byte) else { return nil }
                bytes.append(byte)
            }
        }
        return nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// Whether a quoted string may contain a byte: not a control character, except for the tab.
    private static func isText(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\t") || byte >= 0x20 && byte != 0x7F }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
