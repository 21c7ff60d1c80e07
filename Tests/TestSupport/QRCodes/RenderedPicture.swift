extension Picture {
    /// Creates a picture from the path of an SVG element of this project; nil if the element has another form.
    public init?(svg: String) {
        guard let box = svg.firstMatch(of: /viewBox="0 0 (\d+) (\d+)"/), let width = Int(box.1), let height = Int(box.2),
            let path = svg.firstMatch(of: /fill="#000" d="([^"]*)"/)
        else { return nil }
        var rows = [[Bool]](repeating: [Bool](repeating: false, count: width), count: height)
        var rest = path.1
        while let bar = rest.prefixMatch(of: /M(\d+) (\d+)h(\d+)v1H(\d+)z/) {
            guard let column = Int(bar.1), let row = Int(bar.2), let length = Int(bar.3), bar.1 == bar.4 else { return nil }
            for place in column..<column + length { rows[row][place] = true }
            rest = rest[bar.range.upperBound...]
        }
        guard rest.isEmpty else { return nil }
        self.init(rows: rows)
    }

    /// Creates a picture from half block characters of a terminal.
    ///
    /// - Parameters:
    ///   - text: Lines of half blocks, with or without escape sequences. They have the line ends of a file or a terminal.
    ///   - inkIsDark: Whether the text is darker than its background.
    public init(terminal text: String, inkIsDark: Bool) {
        var rows: [[Bool]] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let cells = line.replacing(/\u{1B}\[[0-9;]*m/, with: "")
            rows.append(cells.map { ("█▀".contains($0)) == inkIsDark })
            rows.append(cells.map { ("█▄".contains($0)) == inkIsDark })
        }
        self.init(rows: rows)
    }
}
