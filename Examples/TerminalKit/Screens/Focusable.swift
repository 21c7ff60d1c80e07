/// An element that can receive keys.
@MainActor
struct Focusable {
    enum Kind {
        case field(Element.Field)
        case button(Button)
        case list(Element.Choice)
        case toggle(Element.Toggle)
        case scroll(Element.Scroll)
    }

    let kind: Kind

    var id: String {
        switch kind {
        case .field(let field): field.id
        case .button(let button): button.id
        case .list(let list): list.id
        case .toggle(let toggle): toggle.id
        case .scroll(let scroll): scroll.id
        }
    }

    var isEnabled: Bool {
        switch kind {
        case .field(let field): field.isEnabled
        case .button(let button): button.isEnabled
        case .list(let list): !list.rows.isEmpty
        case .toggle(let toggle): toggle.isEnabled
        case .scroll: true
        }
    }

    var isScroll: Bool {
        if case .scroll = kind { true } else { false }
    }
}

extension Screen {
    /// The focusable elements from top to bottom; during an alert, only the alert's buttons.
    var focusables: [Focusable] {
        if let alert { return alert.buttons.map { Focusable(kind: .button($0)) } }
        return elements.flatMap { element -> [Focusable] in
            switch element.kind {
            case .field(let field): [Focusable(kind: .field(field))]
            case .buttons(let buttons): buttons.map { Focusable(kind: .button($0)) }
            case .list(let list): [Focusable(kind: .list(list))]
            case .toggle(let toggle): [Focusable(kind: .toggle(toggle))]
            case .scroll(let scroll): [Focusable(kind: .scroll(scroll))]
            case .text, .lines, .pairs, .progress, .space: []
            }
        }
    }

    /// The identity of the screen or of its alert, which identifies the stored positions.
    var identity: String { alert.map { Self.alertPrefix + $0.title } ?? "screen " + title }

    private static var alertPrefix: String { "alert " }

    /// Whether an identity belongs to an alert.
    static func isAlert(_ identity: String) -> Bool { identity.hasPrefix(alertPrefix) }
}
