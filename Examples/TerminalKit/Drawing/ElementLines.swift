internal import Wording

/// One line of a screen's body.
struct BodyLine {
    var spans: [Span]
    /// The ids of the focusable elements on the line.
    var ids: [String] = []
    /// The column of the cursor; `nil` for none.
    var cursor: Int?

    init(_ spans: [Span], ids: [String] = [], cursor: Int? = nil) {
        self.spans = spans
        self.ids = ids
        self.cursor = cursor
    }

    static let empty = BodyLine([])
}

/// The layout of elements as lines.
@MainActor
struct ElementLines {
    let columns: Int
    /// The number of visible lines.
    let height: Int
    let interaction: Interaction
    let focus: String?
    /// The step of the animations; `nil` for no animation.
    let tick: Int?
    /// The width of the labels before fields.
    let labelColumns: Int
    let more: String

    private static let wheel = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
    /// The maximum width of a label before a field or value.
    static let widestLabel = 24

    /// Returns the lines of an element.
    ///
    /// - Parameter scrollHeight: The number of lines for a scrolled text that fills the screen.
    func lines(_ element: Element, scrollHeight: Int) -> [BodyLine] {
        switch element.kind {
        case .text(let text, let style): self.text(text, style)
        case .lines(let lines, let alternative): self.lines(lines, orElse: alternative)
        case .pairs(let pairs): self.pairs(pairs)
        case .field(let field): [self.field(field)]
        case .buttons(let buttons): self.buttons(buttons)
        case .list(let list): self.list(list)
        case .toggle(let toggle): [self.toggle(toggle)]
        case .scroll(let scroll): self.scroll(scroll, height: scroll.height ?? scrollHeight)
        case .progress(let text):
            [BodyLine([Span((tick.map { Self.wheel[$0 % Self.wheel.count] } ?? "…") + " ", .bold), Span(text)])]
        case .space: [.empty]
        }
    }

    private func text(_ text: String, _ style: Element.Style) -> [BodyLine] {
        let (mark, attributes): (String, Attributes) =
            switch style {
            case .normal: ("", .plain)
            case .heading: ("", .bold)
            case .dim: ("", .dim)
            case .success: ("", Attributes(isBold: true, colour: .green))
            case .error: ("⚠ ", Attributes(colour: .red))
            case .warning: ("! ", Attributes(colour: .yellow))
            }
        let indent = String(repeating: " ", count: mark.count)
        return PrintableText.lines(text).flatMap { TextWidth.wrap($0, columns: columns - mark.count) }.enumerated().map { number, line in
            BodyLine([Span((number == 0 ? mark : indent) + line, attributes)])
        }
    }

    private func lines(_ lines: [String], orElse alternative: String?) -> [BodyLine] {
        if let alternative, lines.count > height || lines.contains(where: { TextWidth.of($0) > columns }) {
            return text(alternative, .warning)
        }
        return lines.map { BodyLine([Span($0)]) }
    }

    private func pairs(_ pairs: [(label: String, value: String)]) -> [BodyLine] {
        let width = min(Self.widestLabel, pairs.map { TextWidth.of($0.label) }.max() ?? 0)
        return pairs.flatMap { pair in
            PrintableText.lines(pair.value).flatMap { TextWidth.wrap($0, columns: columns - width - 2) }.enumerated().map { number, line in
                BodyLine([Span(Self.padded(number == 0 ? pair.label : "", width) + "  ", .dim), Span(line)])
            }
        }
    }

    // MARK: - Focusable elements

    private func field(_ field: Element.Field) -> BodyLine {
        let isFocused = field.id == focus
        let width = max(4, min(columns - labelColumns - 4, 48))
        let typed = PrintableText.line(field.text)
        let shown = field.isSecret ? String(repeating: "•", count: typed.count) : typed
        let caret = min(interaction.carets[field.id] ?? 0, typed.count)
        // If the text is too long, shows its end or the part around the cursor.
        let before = shown.dropLast(caret)
        var start = before.startIndex
        while TextWidth.of(before[start...]) >= width { start = before.index(after: start) }
        let visible = TextWidth.prefix(shown[start...], columns: width)
        let blank = String(repeating: "_", count: max(0, width - TextWidth.of(visible)))
        let frame: Attributes = field.isEnabled ? .plain : .dim
        return BodyLine(
            [
                Span(Self.padded(field.label, labelColumns) + " ", isFocused ? .bold : .plain),
                Span(isFocused ? ">" : " ", .bold), Span(field.isEnabled ? "[" : "(", frame), Span(visible, frame), Span(blank, .dim),
                Span(field.isEnabled ? "]" : ")", frame),
            ], ids: [field.id],
            cursor: isFocused && field.isEnabled ? labelColumns + 3 + TextWidth.of(before[start...]) : nil)
    }

    func buttons(_ buttons: [Button]) -> [BodyLine] {
        var lines: [BodyLine] = []
        var current = BodyLine.empty
        var used = 0
        for button in buttons {
            let spans = self.button(button)
            let width = spans.reduce(0) { $0 + TextWidth.of($1.text) }
            if used > 0, used + 2 + width > columns {
                lines.append(current)
                (current, used) = (.empty, 0)
            }
            if used > 0 {
                current.spans.append(Span("  "))
                used += 2
            }
            current.spans += spans
            current.ids.append(button.id)
            used += width
        }
        return current.spans.isEmpty ? lines : lines + [current]
    }

    private func button(_ button: Button) -> [Span] {
        let isFocused = button.id == focus
        var attributes = Attributes.plain
        switch button.role {
        case .normal: break
        case .prominent: attributes.isBold = true
        case .destructive: attributes.colour = .red
        }
        if !button.isEnabled { attributes = .dim }
        if isFocused { attributes.isReversed = button.isEnabled }
        let (left, right) = button.isEnabled ? ("[", "]") : ("(", ")")
        let label = PrintableText.line(button.label) + (button.key.map { " \($0.lowercased())" } ?? "")
        return [Span(isFocused ? ">" : " ", .bold), Span("\(left) \(label) \(right)", attributes)]
    }

    private func toggle(_ toggle: Element.Toggle) -> BodyLine {
        let isFocused = toggle.id == focus
        let mark = toggle.isOn ? "x" : " "
        return BodyLine(
            [
                Span(isFocused ? ">" : " ", .bold),
                Span(toggle.isEnabled ? "[\(mark)] " : "(\(mark)) ", toggle.isEnabled ? .plain : .dim),
                Span(toggle.label, isFocused ? .bold : toggle.isEnabled ? .plain : .dim),
            ], ids: [toggle.id])
    }

    private func list(_ list: Element.Choice) -> [BodyLine] {
        let chosen = min(interaction.rows[list.id] ?? 0, max(0, list.rows.count - 1))
        return list.rows.enumerated().flatMap { number, row in
            let isChosen = number == chosen && list.id == focus
            // Only the chosen row has the focus.
            let ids = isChosen ? [list.id] : []
            let first = BodyLine(
                [
                    Span(isChosen ? "> " : "  ", .bold),
                    Span(TextWidth.prefix(PrintableText.line(row.text), columns: columns - 2), isChosen ? .reversed : .plain),
                ],
                ids: ids)
            guard let detail = row.detail else { return [first] }
            return [first, BodyLine([Span("  " + TextWidth.prefix(PrintableText.line(detail), columns: columns - 2), .dim)], ids: ids)]
        }
    }

    /// Returns the text of a scrolled element, broken into lines.
    func wrapped(_ scroll: Element.Scroll) -> [String] {
        PrintableText.lines(scroll.text).flatMap { TextWidth.wrap($0, columns: columns - 4) }
    }

    private func scroll(_ scroll: Element.Scroll, height: Int) -> [BodyLine] {
        let lines = wrapped(scroll)
        let height = max(1, min(height, lines.count))
        let offset = max(0, min(interaction.offsets[scroll.id] ?? 0, lines.count - height))
        let isFocused = scroll.id == focus
        let frame: Attributes = isFocused ? .bold : .dim
        let title = scroll.title.map { " \(isFocused ? ">" : "")\(PrintableText.line($0)) " } ?? (isFocused ? " > " : "")
        let place = lines.count > height ? " \(offset + 1)-\(offset + height)/\(lines.count) " : ""
        func edge(_ left: String, _ text: String, _ right: String, isAtEnd: Bool) -> BodyLine {
            let text = TextWidth.prefix(text, columns: columns - 4)
            let line = String(repeating: "─", count: max(0, columns - 3 - TextWidth.of(text)))
            return BodyLine([Span(isAtEnd ? "\(left)\(line)\(text)─\(right)" : "\(left)─\(text)\(line)\(right)", frame)], ids: [scroll.id])
        }
        let inner = lines[offset..<(offset + height)].map { line in
            BodyLine([Span("│ ", frame), Span(Self.padded(line, columns - 4)), Span(" │", frame)], ids: [scroll.id])
        }
        return [edge("┌", title, "┐", isAtEnd: false)] + inner + [edge("└", place, "┘", isAtEnd: true)]
    }

    static func padded(_ text: String, _ columns: Int) -> String {
        let cut = TextWidth.prefix(PrintableText.line(text), columns: columns)
        return cut + String(repeating: " ", count: max(0, columns - TextWidth.of(cut)))
    }
}
