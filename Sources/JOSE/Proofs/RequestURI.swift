/// The normalization of URLs that are compared with `htu`: without query and fragment (RFC 9449 §4.3; RFC 3986 §6.2.2 and §6.2.3).
/// Only request URLs are supported: `scheme://host[:port]/path` in printable ASCII, without user information.
enum RequestURI {
    /// Whether two URLs have the same request target; false if one of them is not a request URL.
    static func isSame(_ one: String, _ other: String) -> Bool {
        // Equal texts are the usual case and need only one normalization.
        guard let left = normalized(one) else { return false }
        return one == other || left == normalized(other)
    }

    /// Returns the normalized URL; `nil` if the text is not a request URL.
    static func normalized(_ uri: String) -> [UInt8]? {
        let bytes = Array(uri.utf8)
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8)
        else { return nil }
        let scheme = bytes[..<colon].map(lowercase)
        guard scheme == Array("https".utf8) || scheme == Array("http".utf8) else { return nil }
        let rest = bytes[(colon + 3)...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        guard let authority = authority(rest[..<slash], isSecure: scheme.count == 5), let path = path(rest[slash...]) else { return nil }
        return scheme + Array("://".utf8) + authority + path
    }

    /// Returns the host in lowercase, followed by the port unless it is the scheme's default.
    private static func authority(_ text: ArraySlice<UInt8>, isSecure: Bool) -> [UInt8]? {
        guard !text.contains(UInt8(ascii: "@")), !text.contains(UInt8(ascii: "%")), !text.contains(UInt8(ascii: "\\")) else { return nil }
        var host = text
        var port: ArraySlice<UInt8> = []
        let end = text.lastIndex(of: UInt8(ascii: "]")) ?? text.startIndex
        if let colon = text[end...].lastIndex(of: UInt8(ascii: ":")) {
            (host, port) = (text[..<colon], text[(colon + 1)...])
        }
        guard !host.isEmpty, host.first == UInt8(ascii: "[") || !host.contains(UInt8(ascii: ":")),
            port.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        let isDefault = port.isEmpty || port.elementsEqual((isSecure ? "443" : "80").utf8)
        return host.map(lowercase) + (isDefault ? [] : [UInt8(ascii: ":")] + port)
    }

    /// Normalizes a path: escapes in uppercase, unreserved characters unescaped, dot segments removed, and at least "/".
    private static func path(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var plain: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            guard byte == UInt8(ascii: "%") else {
                plain.append(byte)
                index += 1
                continue
            }
            guard index + 2 < text.endIndex, let high = digit(text[index + 1]), let low = digit(text[index + 2]) else { return nil }
            let escaped = high << 4 | low
            plain += isUnreserved(escaped) ? [escaped] : [byte, uppercase(text[index + 1]), uppercase(text[index + 2])]
            index += 3
        }
        var segments: [ArraySlice<UInt8>] = []
        let parts = plain.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (position, part) in parts.enumerated() {
            let isLast = position == parts.count - 1
            if part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) {
                if part.count == 2 { _ = segments.popLast() }
                if isLast { segments.append([]) }
            } else {
                segments.append(part)
            }
        }
        return segments.isEmpty ? [UInt8(ascii: "/")] : segments.flatMap { [UInt8(ascii: "/")] + $0 }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func uppercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & 0xDF : byte
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch lowercase(byte) {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): lowercase(byte) - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
