extension QRSymbol {
    /// What colours a terminal has.
    public enum TerminalColors: Sendable {
        /// It understands escape sequences: the symbol is black on white, whatever the terminal's own colours are.
        case escapeSequences
        /// Light text on a dark background, and no escape sequences.
        case darkBackground
        /// Dark text on a light background, and no escape sequences.
        case lightBackground
    }

    /// The symbol as text, two modules to a character, by half blocks.
    ///
    /// - Parameters:
    ///   - colors: What the terminal can show.
    ///   - quietZone: Light modules around it, at least 0; readers count on the 4 of the standard.
    /// - Returns: Lines, each with its end; each is as wide as the symbol with its quiet zone.
    public func terminalText(colors: TerminalColors = .escapeSequences, quietZone: Int = 4) -> String {
        let zone = max(quietZone, 0)
        // What is drawn is the text's colour: the light modules, unless the text is dark.
        let drawsDark = colors == .lightBackground
        var text = ""
        for row in stride(from: -zone, to: size + zone, by: 2) {
            // White on black by number, so that no theme's idea of these colours makes it grey on grey.
            if colors == .escapeSequences { text += "\u{1B}[38;5;231;48;5;16m" }
            for column in -zone..<size + zone {
                let upper = self[column, row] == drawsDark
                // With an odd number of rows the last line has a half that belongs to nothing.
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
