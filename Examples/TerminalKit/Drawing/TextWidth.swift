/// The width of texts in terminal columns.
enum TextWidth {
    /// Returns the width of a character: 0, 1 or 2.
    static func of(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.isASCII { return 1 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        let isEmoji = first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}")
        return isEmoji || isWide(first.value) ? 2 : 1
    }

    /// Returns the width of a text.
    static func of(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + of($1) } }

    /// Returns the longest prefix that fits into a number of columns.
    static func prefix(_ text: some StringProtocol, columns: Int) -> String {
        var left = columns
        return String(
            text.prefix { character in
                left -= of(character)
                return left >= 0
            })
    }

    /// Breaks a line at spaces, and within words that are longer than a line.
    ///
    /// - Returns: The lines, at least one.
    static func wrap(_ line: String, columns: Int) -> [String] {
        let columns = max(1, columns)
        guard of(line) > columns else { return [line] }
        var lines: [String] = []
        var current = ""
        for word in line.split(separator: " ", omittingEmptySubsequences: false) {
            let joined = current.isEmpty ? String(word) : current + " " + word
            if of(joined) <= columns {
                current = joined
                continue
            }
            if !current.isEmpty { lines.append(current) }
            var rest = word
            while of(rest) > columns {
                // A line has at least one character, even if the character is too wide.
                let piece = max(1, prefix(rest, columns: columns).count)
                lines.append(String(rest.prefix(piece)))
                rest = rest.dropFirst(piece)
            }
            current = String(rest)
        }
        return lines + [current]
    }

    /// Whether a code point is in the East Asian wide or fullwidth blocks.
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xAC00...0xD7A3,
            0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
