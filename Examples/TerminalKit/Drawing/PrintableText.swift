/// A filter for untrusted texts: replaces terminal control characters and characters that change the text direction.
enum PrintableText {
    /// Returns the filtered lines of a text.
    static func lines(_ text: String) -> [String] {
        text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false).map { line(String($0)) }
    }

    /// Returns a filtered text on a single line.
    static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: steers) else { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    switch scalar {
                    case "\n", "\t": " "
                    case let scalar where steers(scalar): "\u{FFFD}"
                    default: scalar
                    }
                }))
    }

    private static func steers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x061C, 0x200E...0x200F, 0x2028...0x2029, 0x202A...0x202E, 0x2066...0x2069: true
        default: scalar.properties.generalCategory == .control
        }
    }
}
