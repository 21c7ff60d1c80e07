/// One of the things on a ``Screen``.
@MainActor
public struct Element {
    /// How a text looks. Without colours (`NO_COLOR`) an error or a warning still has its mark.
    public enum Style: Sendable {
        case normal, heading, dim, success
        /// Marked by ⚠ and red.
        case error
        /// Marked by ! and yellow.
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

        /// Describes a row.
        ///
        /// - Parameters:
        ///   - text: What it says.
        ///   - detail: What stands below it, dimmed.
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

    /// A text, broken where lines end.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - style: How it looks.
    /// - Returns: The element.
    public static func text(_ text: String, _ style: Style = .normal) -> Element { Element(kind: .text(text, style)) }

    /// Lines that are drawn as they are, such as a QR code.
    ///
    /// - Parameters:
    ///   - lines: The lines.
    ///   - alternative: What is said instead where a terminal is too small for all of them at once; nil to cut what is too long, and to
    ///     scroll.
    /// - Returns: The element.
    public static func lines(_ lines: [String], orElse alternative: String? = nil) -> Element {
        Element(kind: .lines(lines, orElse: alternative))
    }

    /// Values with their names before them.
    ///
    /// - Parameter pairs: Names and values, in order.
    /// - Returns: The element.
    public static func pairs(_ pairs: [(label: String, value: String)]) -> Element { Element(kind: .pairs(pairs)) }

    /// A text to type.
    ///
    /// - Parameters:
    ///   - label: What it is, on its left.
    ///   - id: What the focus is kept by; nil for the label. Unique on its screen.
    ///   - text: What is typed so far.
    ///   - isEnabled: Whether it can be changed.
    ///   - set: Takes what was typed.
    ///   - submit: What Return does; nil to go on to what follows.
    /// - Returns: The element.
    public static func field(
        _ label: String, id: String? = nil, text: String, isEnabled: Bool = true, set: @escaping @MainActor (String) -> Void,
        submit: (@MainActor () -> Void)? = nil
    ) -> Element {
        Element(
            kind: .field(
                Field(id: id ?? label, label: label, text: text, isSecret: false, isEnabled: isEnabled, set: set, submit: submit)))
    }

    /// A secret to type, shown as dots.
    ///
    /// - Parameters:
    ///   - label: What it is, on its left.
    ///   - id: What the focus is kept by; nil for the label. Unique on its screen.
    ///   - text: What is typed so far.
    ///   - isEnabled: Whether it can be changed.
    ///   - set: Takes what was typed.
    ///   - submit: What Return does; nil to go on to what follows.
    /// - Returns: The element.
    public static func secureField(
        _ label: String, id: String? = nil, text: String, isEnabled: Bool = true, set: @escaping @MainActor (String) -> Void,
        submit: (@MainActor () -> Void)? = nil
    ) -> Element {
        Element(
            kind: .field(Field(id: id ?? label, label: label, text: text, isSecret: true, isEnabled: isEnabled, set: set, submit: submit)))
    }

    /// Buttons beside each other, on as many lines as they need.
    ///
    /// - Parameter buttons: The buttons.
    /// - Returns: The element.
    public static func buttons(@ButtonsBuilder _ buttons: () -> [Button]) -> Element { Element(kind: .buttons(buttons())) }

    /// Rows, one of which is chosen by the arrows and opened by Return.
    ///
    /// - Parameters:
    ///   - id: What the focus and the row are kept by. Unique on its screen.
    ///   - rows: The rows.
    ///   - choose: Opens the row of that number, from 0.
    /// - Returns: The element.
    public static func list(_ id: String, rows: [Row], choose: @escaping @MainActor (Int) -> Void) -> Element {
        Element(kind: .list(Choice(id: id, rows: rows, choose: choose)))
    }

    /// Something to turn on and off, by Return or the space bar.
    ///
    /// - Parameters:
    ///   - label: What it is.
    ///   - id: What the focus is kept by; nil for the label. Unique on its screen.
    ///   - isOn: Whether it is on.
    ///   - isEnabled: Whether it can be changed.
    ///   - set: Takes what it shall be.
    /// - Returns: The element.
    public static func toggle(
        _ label: String, id: String? = nil, isOn: Bool, isEnabled: Bool = true, set: @escaping @MainActor (Bool) -> Void
    ) -> Element {
        Element(kind: .toggle(Toggle(id: id ?? label, label: label, isOn: isOn, isEnabled: isEnabled, set: set)))
    }

    /// A long text in a frame, which the arrows scroll.
    ///
    /// - Parameters:
    ///   - id: What the focus and the place are kept by. Unique on its screen.
    ///   - title: What it is, in the frame.
    ///   - text: The text.
    ///   - height: How many lines are seen at most; nil for all that the screen has left.
    /// - Returns: The element.
    public static func scroll(_ id: String, title: String? = nil, text: String, height: Int? = nil) -> Element {
        Element(kind: .scroll(Scroll(id: id, title: title, text: text, height: height)))
    }

    /// Something that is under way and takes its time.
    ///
    /// - Parameter text: What it is.
    /// - Returns: The element.
    public static func progress(_ text: String) -> Element { Element(kind: .progress(text)) }

    /// An empty line.
    public static var space: Element { Element(kind: .space) }
}
