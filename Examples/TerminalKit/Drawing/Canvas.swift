/// The style of a character.
struct Attributes: Hashable {
    enum Colour: Int {
        case red = 31
        case green = 32
        case yellow = 33
        case blue = 34
    }

    var isBold = false
    var isDim = false
    var isReversed = false
    var colour: Colour?

    static let plain = Attributes()
    static let bold = Attributes(isBold: true)
    static let dim = Attributes(isDim: true)
    static let reversed = Attributes(isReversed: true)
}

/// A part of a line with one style.
struct Span {
    var text: String
    var attributes = Attributes.plain

    init(_ text: String, _ attributes: Attributes = .plain) {
        self.text = text
        self.attributes = attributes
    }
}

/// A terminal's size in characters.
public struct TerminalSize: Hashable, Sendable {
    /// The number of characters per line.
    public let columns: Int
    /// The number of lines.
    public let rows: Int

    /// Creates a size; the minimum is 20 by 6.
    ///
    /// - Parameters:
    ///   - columns: The number of characters per line.
    ///   - rows: The number of lines.
    public init(columns: Int, rows: Int) {
        self.columns = max(20, columns)
        self.rows = max(6, rows)
    }

    /// The standard size: 80 columns by 24 lines.
    public static let standard = TerminalSize(columns: 80, rows: 24)
}

/// The characters of a screen.
struct Canvas: Equatable {
    struct Cell: Hashable {
        /// The character; `nil` for the second half of a wide character.
        var character: Character?
        var attributes: Attributes

        static let blank = Cell(character: " ", attributes: .plain)
    }

    let size: TerminalSize
    private(set) var cells: [Cell]

    init(size: TerminalSize) {
        self.size = size
        cells = Array(repeating: .blank, count: size.columns * size.rows)
    }

    subscript(column: Int, row: Int) -> Cell { cells[row * size.columns + column] }

    /// Draws a text. Parts outside the canvas are cut off.
    ///
    /// - Returns: The column after the text.
    @discardableResult
    mutating func draw(_ text: String, column: Int, row: Int, _ attributes: Attributes = .plain) -> Int {
        var column = column
        for character in PrintableText.line(text) {
            let width = TextWidth.of(character)
            guard width > 0 else { continue }
            defer { column += width }
            guard row >= 0, row < size.rows, column >= 0, column + width <= size.columns else { continue }
            cells[row * size.columns + column] = Cell(character: character, attributes: attributes)
            if width == 2 { cells[row * size.columns + column + 1] = Cell(character: nil, attributes: attributes) }
        }
        return column
    }

    mutating func draw(_ spans: [Span], column: Int, row: Int) {
        var column = column
        for span in spans { column = draw(span.text, column: column, row: row, span.attributes) }
    }

    mutating func fill(columns: Range<Int>, row: Int, _ attributes: Attributes) {
        draw(String(repeating: " ", count: columns.count), column: columns.lowerBound, row: row, attributes)
    }

    /// The lines as text without trailing spaces.
    var text: String {
        (0..<size.rows).map { row in
            let line = String((0..<size.columns).compactMap { self[$0, row].character })
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }
}
