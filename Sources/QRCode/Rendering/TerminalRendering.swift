extension QRSymbol {
    /// The color support of a terminal.
    public enum TerminalColors: Sendable {
        /// The terminal supports escape sequences. The symbol is black on white, independent of the terminal's colors.
        case escapeSequences
        /// Light text on a dark background, without escape sequences.
        case darkBackground
        /// Dark text on a light background, without escape sequences.
        case lightBackground
    }

    /// Returns the symbol as lines of half-block characters; each character shows two modules, one above the other.
    /// - Parameters:
    ///   - colors: The color support of the terminal.
    ///   - quietZone: The width of the light border in modules, at least 0. Readers expect the standard's 4.
    /// - Returns: Lines of equal width, each with a newline at the end.
    public func terminalText(colors: TerminalColors = .escapeSequences, quietZone: Int = 4) -> String {
        let zone = max(quietZone, 0)
        // The text color draws the light modules, or the dark modules if the text is dark.
        let drawsDark = colors == .lightBackground
        var text = ""
        for row in stride(from: -zone, to: size + zone, by: 2) {
            // Fixed palette numbers for white on black, because a terminal theme can redefine the named colors.
            if colors == .escapeSequences { text += "\u{1B}[38;5;231;48;5;16m" }
            for column in -zone..<size + zone {
                let upper = self[column, row] == drawsDark
                // If the number of rows is odd, the lower half of the last line has no module.
                let lower = row + 1 < size + zone ? self[column, row + 1] == drawsDark : colors == .escapeSequences
                switch (upper, lower) {
                case (true, true): text += "█"
                case (true, false): text += "▀"
                case (false, true): text += "▄"
                case (false, false): text += " "
                }
            }
            if colors == .escapeSequences { text += "\u{1B}[0m" }
            text += "\n"
        }
        return text
    }
}
