/// An element of a ``Screen``.
@MainActor
public struct Element {
    /// The style of a text. Without colours (`NO_COLOR`), errors and warnings keep their symbols.
    public enum Style: Sendable {
        case normal, heading, dim, success
        /// Red text after the symbol ⚠.
        case error
        /// Yellow text after the symbol !.
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
        /// - Parameter detail: A dimmed text below the text of the row; `nil` for none.
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

    /// Returns a text that wraps at the line ends.
    public static func text(_ text: String, _ style: Style = .normal) -> Element { Element(kind: .text(text, style)) }

    /// Returns lines that are drawn as they are, such as a QR code.
    ///
    /// - Parameter alternative: A text for terminals that are too small for all lines; `nil` to cut and scroll.
    public static func lines(_ lines: [String], orElse alternative: String? = nil) -> Element {
        Element(kind: .lines(lines, orElse: alternative))
    }

    /// Returns values with their names.
    ///
    /// - Parameter pairs: Names and values, in order.
    public static func pairs(_ pairs: [(label: String, value: String)]) -> Element { Element(kind: .pairs(pairs)) }

    /// Returns a text field.
    ///
    /// - Parameters:
    ///   - label: The label on the left.
    ///   - id: The id of the field, for the focus; `nil` for the label. Equal ids on a screen are made unique.
    ///   - text: The current text.
    ///   - isEnabled: Whether the user can edit the field.
    ///   - set: Receives the new text.
    ///   - submit: The action of Return; `nil` to move to the next element.
    public static func field(
        _ label: String, id: String? = nil, text: String, isEnabled: Bool = true, set: @escaping @MainActor (String) -> Void,
        submit: (@MainActor () -> Void)? = nil
    ) -> Element {
        Element(
            kind: .field(
                Field(id: id ?? label, label: label, text: text, isSecret: false, isEnabled: isEnabled, set: set, submit: submit)))
    }

    /// Returns a field for a secret, which is shown as dots.
    ///
    /// - Parameters:
    ///   - label: The label on the left.
    ///   - id: The id of the field, for the focus; `nil` for the label. Equal ids on a screen are made unique.
    ///   - text: The current text.
    ///   - isEnabled: Whether the user can edit the field.
    ///   - set: Receives the new text.
    ///   - submit: The action of Return; `nil` to move to the next element.
    public static func secureField(
        _ label: String, id: String? = nil, text: String, isEnabled: Bool = true, set: @escaping @MainActor (String) -> Void,
        submit: (@MainActor () -> Void)? = nil
    ) -> Element {
        Element(
            kind: .field(Field(id: id ?? label, label: label, text: text, isSecret: true, isEnabled: isEnabled, set: set, submit: submit)))
    }

    /// Returns buttons side by side, on as many lines as necessary.
    public static func buttons(@ButtonsBuilder _ buttons: () -> [Button]) -> Element { Element(kind: .buttons(buttons())) }

    /// Returns a list. The arrow keys choose a row, and Return opens it.
    ///
    /// - Parameters:
    ///   - id: The id of the list, for the focus and the chosen row. Equal ids on a screen are made unique.
    ///   - choose: Opens the row with the given index.
    public static func list(_ id: String, rows: [Row], choose: @escaping @MainActor (Int) -> Void) -> Element {
        Element(kind: .list(Choice(id: id, rows: rows, choose: choose)))
    }

    /// Returns a switch. Return and the space bar change it.
    ///
    /// - Parameters:
    ///   - id: The id of the switch, for the focus; `nil` for the label. Equal ids on a screen are made unique.
    ///   - isOn: Whether the switch is on.
    ///   - isEnabled: Whether the user can change the switch.
    ///   - set: Receives the new value.
    public static func toggle(
        _ label: String, id: String? = nil, isOn: Bool, isEnabled: Bool = true, set: @escaping @MainActor (Bool) -> Void
    ) -> Element {
        Element(kind: .toggle(Toggle(id: id ?? label, label: label, isOn: isOn, isEnabled: isEnabled, set: set)))
    }

    /// Returns a long text in a frame. The arrow keys scroll it.
    ///
    /// - Parameters:
    ///   - id: The id of the text, for the focus and the scroll position. Equal ids on a screen are made unique.
    ///   - title: The title in the frame; `nil` for none.
    ///   - height: The maximum number of visible lines; `nil` for the rest of the screen.
    public static func scroll(_ id: String, title: String? = nil, text: String, height: Int? = nil) -> Element {
        Element(kind: .scroll(Scroll(id: id, title: title, text: text, height: height)))
    }

    /// Returns a progress indicator.
    ///
    /// - Parameter text: The description of the progress.
    public static func progress(_ text: String) -> Element { Element(kind: .progress(text)) }

    /// An empty line.
    public static var space: Element { Element(kind: .space) }
}
