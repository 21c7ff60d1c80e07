/// An element of a ``Screen``.
@MainActor
public struct Element {
    /// The style of a text. Without colours (`NO_COLOR`), errors and warnings keep their symbols.
    public enum Style: Sendable {
        case normal, heading, dim, success
        /// Red with ⚠.
        case error
        /// Yellow with !.
        case warning
    }

    struct Field {
        var id: String
        let label: String
        let text: String
        let isSecret: Bool
        let isEnabled: Bool
        let set: @MainActor (String) -> Void
        let submit: (@MainActor () -> Void)?
    }

    struct Choice {
        var id: String
        let rows: [Row]
        let choose: @MainActor (Int) -> Void
    }

    struct Toggle {
        var id: String
        let label: String
        let isOn: Bool
        let isEnabled: Bool
        let set: @MainActor (Bool) -> Void
    }

    struct Scroll {
        var id: String
        let title: String?
        let text: String
        let height: Int?
    }

    /// A row of a list.
    public struct Row: Sendable {
        let text: String
        let detail: String?

        /// Creates a row.
        ///
        /// - Parameters:
        ///   - text: The text.
        ///   - detail: A dimmed text below.
        public init(_ text: String, detail: String? = nil) {
            self.text = text
            self.detail = detail
        }
    }

    enum Kind {
        case text(String, Style)
        case lines([String], orElse: String?)
        case pairs([(label: String, value: String)])
        case field(Field)
        case buttons([Button])
        case list(Choice)
        case toggle(Toggle)
        case scroll(Scroll)
        case progress(String)
        case space
    }

    var kind: Kind

    /// A text that wraps at the line ends.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - style: The style.
    /// - Returns: The element.
    public static func text(_ text: String, _ style: Style = .normal) -> Element { Element(kind: .text(text, style)) }

    /// Lines that are drawn as they are, such as a QR code.
    ///
    /// - Parameters:
    ///   - lines: The lines.
    ///   - alternative: A text for terminals that are too small for all lines; `nil` to cut and scroll.
    /// - Returns: The element.
    public static func lines(_ lines: [String], orElse alternative: String? = nil) -> Element {
        Element(kind: .lines(lines, orElse: alternative))
    }

    /// Values with their names.
    ///
    /// - Parameter pairs: Names and values, in order.
    /// - Returns: The element.
    public static func pairs(_ pairs: [(label: String, value: String)]) -> Element { Element(kind: .pairs(pairs)) }

    /// A text field.
    ///
    /// - Parameters:
    ///   - label: The label on the left.
    ///   - id: Identifies the field for the focus; `nil` for the label. Unique on its screen.
    ///   - text: The current text.
    ///   - isEnabled: Whether the user can edit it.
    ///   - set: Receives the new text.
    ///   - submit: The action of Return; `nil` to move to the next element.
    /// - Returns: The element.
    public static func field(
        _ label: String, id: String? = nil, text: String, isEnabled: Bool = true, set: @escaping @MainActor (String) -> Void,
        submit: (@MainActor () -> Void)? = nil
    ) -> Element {
        Element(
            kind: .field(
                Field(id: id ?? label, label: label, text: text, isSecret: false, isEnabled: isEnabled, set: set, submit: submit)))
    }

    /// A field for a secret, which is shown as dots.
    ///
    /// - Parameters:
    ///   - label: The label on the left.
    ///   - id: Identifies the field for the focus; `nil` for the label. Unique on its screen.
    ///   - text: The current text.
    ///   - isEnabled: Whether the user can edit it.
    ///   - set: Receives the new text.
    ///   - submit: The action of Return; `nil` to move to the next element.
    /// - Returns: The element.
    public static func secureField(
        _ label: String, id: String? = nil, text: String, isEnabled: Bool = true, set: @escaping @MainActor (String) -> Void,
        submit: (@MainActor () -> Void)? = nil
    ) -> Element {
        Element(
            kind: .field(Field(id: id ?? label, label: label, text: text, isSecret: true, isEnabled: isEnabled, set: set, submit: submit)))
    }

    /// Buttons side by side, on as many lines as they need.
    ///
    /// - Parameter buttons: The buttons.
    /// - Returns: The element.
    public static func buttons(@ButtonsBuilder _ buttons: () -> [Button]) -> Element { Element(kind: .buttons(buttons())) }

    /// A list. The arrow keys choose a row, and Return opens it.
    ///
    /// - Parameters:
    ///   - id: Identifies the list for the focus and the chosen row. Unique on its screen.
    ///   - rows: The rows.
    ///   - choose: Opens the row with this index.
    /// - Returns: The element.
    public static func list(_ id: String, rows: [Row], choose: @escaping @MainActor (Int) -> Void) -> Element {
        Element(kind: .list(Choice(id: id, rows: rows, choose: choose)))
    }

    /// A switch, for Return or the space bar.
    ///
    /// - Parameters:
    ///   - label: The label.
    ///   - id: Identifies the switch for the focus; `nil` for the label. Unique on its screen.
    ///   - isOn: Whether it is on.
    ///   - isEnabled: Whether the user can change it.
    ///   - set: Receives the new value.
    /// - Returns: The element.
    public static func toggle(
        _ label: String, id: String? = nil, isOn: Bool, isEnabled: Bool = true, set: @escaping @MainActor (Bool) -> Void
    ) -> Element {
        Element(kind: .toggle(Toggle(id: id ?? label, label: label, isOn: isOn, isEnabled: isEnabled, set: set)))
    }

    /// A long text in a frame, which the arrow keys scroll.
    ///
    /// - Parameters:
    ///   - id: Identifies the text for the focus and its scroll position. Unique on its screen.
    ///   - title: The title in the frame.
    ///   - text: The text.
    ///   - height: The maximum number of visible lines; `nil` for the rest of the screen.
    /// - Returns: The element.
    public static func scroll(_ id: String, title: String? = nil, text: String, height: Int? = nil) -> Element {
        Element(kind: .scroll(Scroll(id: id, title: title, text: text, height: height)))
    }

    /// A progress indicator.
    ///
    /// - Parameter text: The description.
    /// - Returns: The element.
    public static func progress(_ text: String) -> Element { Element(kind: .progress(text)) }

    /// An empty line.
    public static var space: Element { Element(kind: .space) }
}
