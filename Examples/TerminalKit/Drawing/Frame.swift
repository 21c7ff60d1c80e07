internal import Wording

/// A drawn screen.
@MainActor
struct Frame {
    let canvas: Canvas
    /// The cursor position; `nil` for none.
    let cursor: (column: Int, row: Int)?
    /// The scroll range in lines of each scrolled text, by id, and of the screen, by its identity; 0 if everything is visible.
    let lengths: [String: Int]
    /// Whether an animation is on the screen.
    let moves: Bool

    private static let margin = 2
    private static let widestBody = 100

    /// Draws a screen.
    ///
    /// - Parameters:
    ///   - size: The size of the terminal.
    ///   - interaction: The focus and the scroll positions. A screen that is longer than the terminal scrolls to the focus.
    ///   - tick: The step of the animations; `nil` for no animation.
    ///   - wording: The language of the hints.
    init(_ screen: Screen, size: TerminalSize, interaction: inout Interaction, tick: Int?, wording: Wording) {
        var canvas = Canvas(size: size)
        let columns = min(Self.widestBody, size.columns - 2 * Self.margin)
        interaction.noteFocus(on: screen)
        let focus = interaction.focus(on: screen)
        let labels = screen.elements.compactMap { if case .field(let field) = $0.kind { TextWidth.of(field.label) } else { nil } }
        // The lines of a screen: the title, an empty line, the body, an empty line, the hints.
        let top = screen.isDense ? 1 : 2
        let height = size.rows - 2 * top
        let writer = ElementLines(
            columns: columns, height: height, interaction: interaction, focus: screen.alert == nil ? focus?.id : nil, tick: tick,
            labelColumns: min(ElementLines.widestLabel, labels.max() ?? 0), more: wording("more"))

        let body = Self.body(screen, writer, height: height)
        var lengths = body.lengths
        lengths[screen.identity] = max(0, body.lines.count - height)
        let isTooLong = body.lines.count > height
        let offset = Self.offset(of: screen, body.lines, focus: focus?.id, height: height, interaction: interaction)
        interaction.offsets[screen.identity] = offset

        canvas.fill(columns: 0..<size.columns, row: 0, .reversed)
        canvas.draw(screen.title, column: Self.margin, row: 0, Attributes(isBold: true, isReversed: true))
        var cursor: (column: Int, row: Int)?
        for (row, line) in body.lines.dropFirst(offset).prefix(height).enumerated() {
            canvas.draw(line.spans, column: Self.margin, row: row + top)
            if let column = line.cursor { cursor = (column + Self.margin, row + top) }
        }
        if isTooLong, !screen.isDense {
            if offset > 0 { canvas.draw("↑ " + writer.more, column: size.columns - 10, row: 1, .dim) }
            if offset + height < body.lines.count { canvas.draw("↓ " + writer.more, column: size.columns - 10, row: size.rows - 2, .dim) }
        }
        if let alert = screen.alert {
            cursor = nil
            Self.draw(alert, on: &canvas, focus: focus?.id, interaction: interaction)
        }
        canvas.fill(columns: 0..<size.columns, row: size.rows - 1, .dim)
        canvas.draw(
            Hints(wording: wording).text(for: screen, focus: focus, columns: size.columns - 2 * Self.margin), column: Self.margin,
            row: size.rows - 1, .dim)
        self.canvas = canvas
        self.cursor = cursor
        self.lengths = lengths
        moves = screen.alert == nil && screen.elements.contains { if case .progress = $0.kind { true } else { false } }
    }

    private static func body(_ screen: Screen, _ writer: ElementLines, height: Int) -> (lines: [BodyLine], lengths: [String: Int]) {
        let open = screen.elements.filter { if case .scroll(let scroll) = $0.kind { scroll.height == nil } else { false } }.count
        let fixed = screen.elements.filter { if case .scroll(let scroll) = $0.kind { scroll.height != nil } else { true } }
            .reduce(0) { $0 + writer.lines($1, scrollHeight: 0).count }
        // Each scrolled text gets an equal share of the remaining lines, without its frame, but at least three lines.
        let scrollHeight = open == 0 ? 0 : max(3, (height - fixed) / open - 2)
        var lengths: [String: Int] = [:]
        for case .scroll(let scroll) in screen.elements.map(\.kind) {
            lengths[scroll.id] = max(0, writer.wrapped(scroll).count - (scroll.height ?? scrollHeight))
        }
        return (screen.elements.flatMap { writer.lines($0, scrollHeight: scrollHeight) }, lengths)
    }

    /// Returns the first visible line: the scroll position, adjusted so that the focus is visible.
    private static func offset(of screen: Screen, _ lines: [BodyLine], focus: String?, height: Int, interaction: Interaction) -> Int {
        let last = max(0, lines.count - height)
        let offset = max(0, min(interaction.offsets[screen.identity] ?? 0, last))
        guard let focus, let first = lines.firstIndex(where: { $0.ids.contains(focus) }),
            let end = lines.lastIndex(where: { $0.ids.contains(focus) })
        else { return offset }
        if first < offset { return first }
        if end >= offset + height { return min(first, end - height + 1) }
        return offset
    }

    private static func draw(_ alert: Screen.Alert, on canvas: inout Canvas, focus: String?, interaction: Interaction) {
        let inner = min(60, canvas.size.columns - 8)
        let writer = ElementLines(
            columns: inner, height: canvas.size.rows, interaction: interaction, focus: focus, tick: nil, labelColumns: 0, more: "")
        let message = PrintableText.lines(alert.message).flatMap { TextWidth.wrap($0, columns: inner) }
        let buttons = writer.buttons(alert.buttons)
        let room = max(1, canvas.size.rows - 8 - buttons.count)
        let lines =
            TextWidth.wrap(PrintableText.line(alert.title), columns: inner).map { BodyLine([Span($0, .bold)]) } + [.empty]
            + message.prefix(room).map { BodyLine([Span($0)]) } + [.empty] + buttons
        let left = (canvas.size.columns - inner - 4) / 2
        let top = max(1, (canvas.size.rows - lines.count - 2) / 2)
        let edge = String(repeating: "═", count: inner + 2)
        canvas.draw("╔\(edge)╗", column: left, row: top)
        for (number, line) in lines.enumerated() {
            let row = top + 1 + number
            canvas.draw("║" + String(repeating: " ", count: inner + 2) + "║", column: left, row: row)
            canvas.draw(line.spans, column: left + 2, row: row)
        }
        canvas.draw("╚\(edge)╝", column: left, row: top + 1 + lines.count)
    }
}
