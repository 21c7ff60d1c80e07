internal import Observation
internal import Wording

/// The current screen and the user's position on it. The screen is created again in ``update(tick:)``.
@MainActor
final class Stage {
    private let makeScreen: @MainActor () -> Screen
    private let changed: @Sendable () -> Void
    private let wording: Wording
    private var interaction = Interaction()

    var size: TerminalSize
    private(set) var screen: Screen
    private(set) var frame: Frame

    /// Creates a stage with its first screen.
    ///
    /// - Parameters:
    ///   - size: The size of the terminal.
    ///   - wording: The language of the hints.
    ///   - changed: Called once, from any thread, when the screen is outdated. Then call ``update(tick:)``.
    ///   - makeScreen: Creates the screen.
    init(size: TerminalSize, wording: Wording, changed: @escaping @Sendable () -> Void, makeScreen: @escaping @MainActor () -> Screen) {
        self.size = size
        self.wording = wording
        self.changed = changed
        self.makeScreen = makeScreen
        screen = withObservationTracking(makeScreen, onChange: changed)
        frame = Frame(screen, size: size, interaction: &interaction, tick: nil, wording: wording)
    }

    /// Creates the screen again.
    ///
    /// - Parameter tick: The step of the animations; `nil` for no animation.
    func update(tick: Int?) {
        screen = withObservationTracking(makeScreen, onChange: changed)
        draw(tick: tick)
    }

    private func draw(tick: Int?) {
        frame = Frame(screen, size: size, interaction: &interaction, tick: tick, wording: wording)
    }

    /// Performs the effect of a key.
    ///
    /// - Returns: The effect of the key. The caller must handle `quit` and `repaint`; actions have already been run.
    func press(_ key: Key, tick: Int?) -> Interaction.Outcome {
        let outcome = interaction.press(key, on: screen, lengths: frame.lengths)
        if case .act(let action) = outcome {
            action()
            // The screen is updated at once, because the next key may be queued already and applies to the changed screen.
            update(tick: tick)
        } else {
            draw(tick: tick)
        }
        return outcome
    }

    /// Presses the enabled button, switch or list row with a label.
    ///
    /// - Returns: Whether such an element exists.
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

    /// Moves the focus to the enabled field with a label.
    ///
    /// - Returns: Whether such a field exists.
    func focus(field label: String) -> Bool {
        for case .field(let field) in screen.focusables.map(\.kind) where field.label == label && field.isEnabled {
            interaction.focus(field.id, on: screen)
            return true
        }
        return false
    }
}
