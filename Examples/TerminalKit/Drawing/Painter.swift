/// A converter of canvases to terminal output. It outputs only the changes since the last canvas, so that nothing flickers.
struct Painter {
    /// Whether colours are used (https://no-color.org). Bold, dim and reversed texts are always used.
    let showsColours: Bool
    private var last: Canvas?

    init(showsColours: Bool) {
        self.showsColours = showsColours
    }

    /// Discards the known content of the terminal, so that everything is drawn.
    mutating func forget() { last = nil }

    /// Returns the terminal output that shows a canvas.
    ///
    /// - Parameters:
    ///   - canvas: The canvas to show.
    ///   - cursor: The cursor position; `nil` for none.
    /// - Returns: The bytes as text.
    mutating func paint(_ canvas: Canvas, cursor: (column: Int, row: Int)?) -> String {
        var output = "\u{1B}[?25l"
        if last?.size != canvas.size {
            last = nil
            output += "\u{1B}[0m\u{1B}[2J"
        }
        for row in 0..<canvas.size.rows {
            guard let range = changes(in: row, of: canvas) else { continue }
            output += Self.move(range.lowerBound, row) + run(range, row, of: canvas)
        }
        last = canvas
        if let cursor { output += Self.move(cursor.column, cursor.row) + "\u{1B}[?25h" }
        return output
    }

    /// Returns the columns from the first to the last change of a row; `nil` without a change.
    private func changes(in row: Int, of canvas: Canvas) -> Range<Int>? {
        let columns = 0..<canvas.size.columns
        guard let last else { return columns }
        guard var first = columns.first(where: { canvas[$0, row] != last[$0, row] }),
            var end = columns.last(where: { canvas[$0, row] != last[$0, row] })
        else { return nil }
        // Wide characters are drawn completely.
        while first > 0, canvas[first, row].character == nil || last[first, row].character == nil { first -= 1 }
        while end + 1 < columns.count, canvas[end + 1, row].character == nil { end += 1 }
        return first..<(end + 1)
    }

    private func run(_ range: Range<Int>, _ row: Int, of canvas: Canvas) -> String {
        var output = ""
        var attributes = Attributes.plain
        for column in range {
            let cell = canvas[column, row]
            guard let character = cell.character else { continue }
            if cell.attributes != attributes {
                attributes = cell.attributes
                output += code(attributes)
            }
            output.append(character)
        }
        return output + (attributes == .plain ? "" : code(.plain))
    }

    private func code(_ attributes: Attributes) -> String {
        var codes = ["0"]
        if attributes.isBold { codes.append("1") }
        if attributes.isDim { codes.append("2") }
        if attributes.isReversed { codes.append("7") }
        if showsColours, let colour = attributes.colour { codes.append(String(colour.rawValue)) }
        return "\u{1B}[\(codes.joined(separator: ";"))m"
    }

    private static func move(_ column: Int, _ row: Int) -> String { "\u{1B}[\(row + 1);\(column + 1)H" }
}
