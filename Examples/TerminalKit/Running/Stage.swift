internal import Observation
internal import Wording

/// The screen that is shown, and what it was made of: makes it anew when the state that it was made of changes.
@MainActor
final class Stage {
    private let makeScreen: @MainActor () -> Screen
    private let changed: @Sendable () -> Void
    private let wording: Wording
    private var interaction = Interaction()

    var size: TerminalSize
    private(set) var screen: Screen
    private(set) var frame: Frame

    /// - Parameters:
    ///   - size: Of the terminal.
    ///   - wording: The hints' language.
    ///   - changed: Told, once, that the screen is no longer true; then ``update(tick:)`` is due. Called from anywhere.
    ///   - makeScreen: Makes the screen.
    init(size: TerminalSize, wording: Wording, changed: @escaping @Sendable () -> Void, makeScreen: @escaping @MainActor () -> Screen) {
        self.size = size
        self.wording = wording
        self.changed = changed
        self.makeScreen = makeScreen
        screen = withObservationTracking(makeScreen, onChange: changed)
        frame = Frame(screen, size: size, interaction: &interaction, tick: nil, wording: wording)
    }

    /// Makes the screen anew.
    ///
    /// - Parameter tick: Counts up while something moves; nil to let nothing move.
    func update(tick: Int?) {
        screen = withObservationTracking(makeScreen, onChange: changed)
        draw(tick: tick)
    }

    private func draw(tick: Int?) {
        frame = Frame(screen, size: size, interaction: &interaction, tick: tick, wording: wording)
    }

    /// Does what a key does.
    ///
    /// - Returns: What is left to do for who shows the screen.
    func press(_ key: Key, tick: Int?) -> Interaction.Outcome {
        let outcome = interaction.press(key, on: screen, lengths: frame.lengths)
        if case .act(let action) = outcome {
            action()
            // At once: the next key, which may have come already, goes to what this one has changed.
            update(tick: tick)
        } else {
            draw(tick: tick)
        }
        return outcome
    }

    /// Presses the button of a label, or chooses the row of a list.
    ///
    /// - Returns: Whether there is one that can be pressed.
    func press(labelled label: String) -> Bool {
        for focusable in screen.focusables where focusable.isEnabled {
            switch focusable.kind {
            case .button(let button) where button.label == label:
                interaction.focus(button.id, on: screen)
                button.action()
            case .toggle(let toggle) where toggle.label == label:
                interaction.focus(toggle.id, on: screen)
                toggle.set(!toggle.isOn)
            case .list(let list):
                guard let row = list.rows.firstIndex(where: { $0.text == label }) else { continue }
                interaction.focus(list.id, on: screen)
                list.choose(row)
            default: continue
            }
            return true
        }
        return false
    }

    /// Moves the focus to a field.
    ///
    /// - Returns: Whether there is one of that label.
    func focus(field label: String) -> Bool {
        for case .field(let field) in screen.focusables.map(\.kind) where field.label == label && field.isEnabled {
            interaction.focus(field.id, on: screen)
            return true
        }
        return false
    }
}
