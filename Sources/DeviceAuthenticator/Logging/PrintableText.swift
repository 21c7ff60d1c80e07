/// Texts from elsewhere without what would steer a terminal, or turn the direction of what follows.
package enum PrintableText {
    /// A text that may have lines.
    package static func lines(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { steers($0) ? "\u{FFFD}" : $0 }))
    }

    /// A text that is not to look like further lines of who writes it.
    package static func line(_ text: String) -> String { lines(text).replacing("\n", with: " ") }

    /// Whether a character controls a terminal: control characters other than line breaks, separators and direction marks.
    package static func steers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A: false
        case 0x061C, 0x200E...0x200F, 0x2028...0x2029, 0x202A...0x202E, 0x2066...0x2069: true
        default: scalar.properties.generalCategory == .control
        }
    }
}
