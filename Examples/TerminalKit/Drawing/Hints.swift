internal import Wording

/// The key hints in the last line of a screen.
@MainActor
struct Hints {
    let wording: Wording

    func text(for screen: Screen, focus: Focusable?, columns: Int) -> String {
        var hints: [String] = []
        if let focus { hints += self.hints(for: focus) }
        if screen.focusables.count(where: \.isEnabled) > 1 { hints.append(hint("Tab", "Move")) }
        if let alert = screen.alert {
            if let last = alert.buttons.last(where: \.isEnabled) { hints.append("\(wording("Esc")) \(last.label)") }
        } else if let back = screen.back {
            hints.append("\(wording("Esc")) \(back.label)")
        }
        hints.append(hint("Ctrl-C", "Quit"))
        // The first hints are removed, because the last hints are the most important.
        while hints.count > 1, TextWidth.of(hints.joined(separator: "  ")) > columns { hints.removeFirst() }
        return hints.joined(separator: "  ")
    }

    private func hints(for focus: Focusable) -> [String] {
        switch focus.kind {
        case .field(let field): field.submit == nil ? [] : [hint("Return", "Next")]
        case .button(let button): button.isEnabled ? [hint("Return", "Press")] : []
        case .toggle: [hint("Return", "Change")]
        case .list: ["↑↓ \(wording("Choose"))", hint("Return", "Open")]
        case .scroll: ["↑↓ \(wording("Scroll"))"]
        }
    }

    private func hint(_ key: String, _ action: String) -> String { "\(wording(key)) \(wording(action))" }
}
