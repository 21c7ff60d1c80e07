/// The user's positions on the screens: the focus, scroll positions, cursors and chosen rows. They determine the effect of keys.
@MainActor
struct Interaction {
    /// The effect of a key.
    enum Outcome {
        /// A position has changed, or the key has no effect.
        case moved
        /// An action that the owner of the screen must run.
        case act(@MainActor () -> Void)
        case quit
        case repaint
    }

    /// The id of the focused element, by the screen's identity.
    private var focuses: [String: String] = [:]
    /// The id of the button that had the focus when the screen was drawn last, by the screen's identity.
    private var firstButtons: [String: String] = [:]
    /// The cursor of each field, as the number of characters to the end of the text, by the field's id.
    private(set) var carets: [String: Int] = [:]
    /// The index of the chosen row, by the list's id.
    private(set) var rows: [String: Int] = [:]
    /// The first visible line of each scrolled text, by its id, and of each screen, by its identity.
    var offsets: [String: Int] = [:]

    // MARK: - The focus

    /// Returns the focused element: the element that last had the focus, or else the first enabled element. In an alert whose first button
    /// is destructive, the default is the last enabled button, so that a held Return does not confirm.
    ///
    /// If a button with the focus becomes disabled, the focus does not move to a later element. Otherwise another Return could sign out.
    func focus(on screen: Screen) -> Focusable? {
        let all = screen.focusables
        if let last = focuses[screen.identity], let found = all.first(where: { $0.id == last }) { return found }
        if let alert = screen.alert, alert.buttons.first?.role == .destructive, let last = all.last(where: \.isEnabled) { return last }
        guard let place = all.firstIndex(where: { $0.isEnabled && !$0.isScroll }) ?? all.firstIndex(where: \.isEnabled) else { return nil }
        if let former = all[..<place].first(where: { $0.id == firstButtons[screen.identity] }) { return former }
        return all[place]
    }

    /// Stores the focused button of a drawn screen. Deletes the focus of a closed alert, so that the next alert with the same title has the
    /// default focus.
    mutating func noteFocus(on screen: Screen) {
        focuses = focuses.filter { identity, _ in identity == screen.identity || !Screen.isAlert(identity) }
        guard let focus = focus(on: screen), case .button = focus.kind else { return firstButtons[screen.identity] = nil }
        firstButtons[screen.identity] = focus.id
    }

    mutating func focus(_ id: String, on screen: Screen) { focuses[screen.identity] = id }

    private mutating func move(by step: Int, on screen: Screen) {
        let all = screen.focusables
        let current = focus(on: screen)?.id
        let usable = all.filter { $0.isEnabled || $0.id == current }
        guard let place = usable.firstIndex(where: { $0.id == current }) else { return }
        focus(usable[(place + step + usable.count) % usable.count].id, on: screen)
    }

    // MARK: - Keys

    /// Handles a key.
    ///
    /// - Parameters:
    ///   - key: The pressed key.
    ///   - screen: The visible screen.
    ///   - lengths: The scroll range of each scrolled text, by its id, and of the screen, by its identity.
    /// - Returns: The effect.
    mutating func press(_ key: Key, on screen: Screen, lengths: [String: Int] = [:]) -> Outcome {
        let focus = focus(on: screen)
        switch key {
        case .control("c"): return .quit
        case .control("l"): return .repaint
        case .tab:
            move(by: 1, on: screen)
            return .moved
        case .backTab:
            move(by: -1, on: screen)
            return .moved
        case .escape: return escape(screen)
        default: break
        }
        if let focus, let outcome = press(key, in: focus, on: screen, lengths: lengths) { return outcome }
        switch key {
        case .down, .right: move(by: 1, on: screen)
        case .up, .left: move(by: -1, on: screen)
        case .pageDown: scroll(scrolled(on: screen, lengths), by: 10, lengths)
        case .pageUp: scroll(scrolled(on: screen, lengths), by: -10, lengths)
        case .character(let character): return shortcut(character, on: screen)
        default: break
        }
        return .moved
    }

    /// Handles a key in the focused element.
    ///
    /// - Returns: The effect; `nil` for a key that the focused element does not use.
    private mutating func press(_ key: Key, in focus: Focusable, on screen: Screen, lengths: [String: Int]) -> Outcome? {
        switch focus.kind {
        case .field(let field): return field.isEnabled ? press(key, in: field, on: screen) : nil
        case .button(let button):
            guard key == .enter || key == .character(" ") else { return nil }
            return button.isEnabled ? .act(button.action) : .moved
        case .toggle(let toggle):
            guard key == .enter || key == .character(" ") else { return nil }
            return toggle.isEnabled ? .act { toggle.set(!toggle.isOn) } : .moved
        case .list(let list): return press(key, in: list)
        case .scroll(let scroll): return press(key, in: scroll.id, lengths)
        }
    }

    private mutating func press(_ key: Key, in field: Element.Field, on screen: Screen) -> Outcome? {
        let caret = min(carets[field.id] ?? 0, field.text.count)
        // The stored cursor may be from a longer text, so it is limited to the text.
        carets[field.id] = caret
        let before = String(field.text.dropLast(caret))
        let after = String(field.text.suffix(caret))
        switch key {
        case .character(let character): return .act { field.set(before + String(character) + after) }
        case .backspace: return .act { field.set(before.dropLast() + after) }
        case .delete:
            guard !after.isEmpty else { return .moved }
            carets[field.id] = caret - 1
            return .act { field.set(before + after.dropFirst()) }
        case .control("u"): return .act { field.set(after) }
        case .left: carets[field.id] = min(field.text.count, caret + 1)
        case .right: carets[field.id] = max(0, caret - 1)
        case .home, .control("a"): carets[field.id] = field.text.count
        case .end, .control("e"): carets[field.id] = 0
        case .enter:
            if let submit = field.submit { return .act(submit) }
            move(by: 1, on: screen)
        default: return nil
        }
        return .moved
    }

    private mutating func press(_ key: Key, in list: Element.Choice) -> Outcome? {
        let row = min(rows[list.id] ?? 0, max(0, list.rows.count - 1))
        switch key {
        case .down where row + 1 < list.rows.count: rows[list.id] = row + 1
        case .up where row > 0: rows[list.id] = row - 1
        case .home: rows[list.id] = 0
        case .end: rows[list.id] = list.rows.count - 1
        case .enter, .character(" "): return list.rows.isEmpty ? .moved : .act { list.choose(row) }
        default: return nil
        }
        return .moved
    }

    private mutating func press(_ key: Key, in scroll: String, _ lengths: [String: Int]) -> Outcome? {
        let offset = offsets[scroll] ?? 0
        switch key {
        case .down where offset < lengths[scroll] ?? 0: self.scroll(scroll, by: 1, lengths)
        case .up where offset > 0: self.scroll(scroll, by: -1, lengths)
        case .pageDown, .character(" "): self.scroll(scroll, by: 10, lengths)
        case .pageUp: self.scroll(scroll, by: -10, lengths)
        case .home: offsets[scroll] = 0
        case .end: offsets[scroll] = lengths[scroll] ?? 0
        default: return nil
        }
        return .moved
    }

    /// Returns the target of a page key: the screen if it is longer than the terminal, or else its first scrolled text.
    private func scrolled(on screen: Screen, _ lengths: [String: Int]) -> String {
        if lengths[screen.identity, default: 0] > 0 { return screen.identity }
        return screen.focusables.first(where: \.isScroll)?.id ?? screen.identity
    }

    private mutating func scroll(_ id: String, by step: Int, _ lengths: [String: Int]) {
        offsets[id] = max(0, min((offsets[id] ?? 0) + step, lengths[id] ?? 0))
    }

    private func escape(_ screen: Screen) -> Outcome {
        if let alert = screen.alert { return alert.buttons.last(where: \.isEnabled).map { .act($0.action) } ?? .moved }
        return screen.back.map { .act($0.action) } ?? .moved
    }

    private func shortcut(_ character: Character, on screen: Screen) -> Outcome {
        for case .button(let button) in screen.focusables.map(\.kind)
        where button.isEnabled && button.key.map(String.init)?.lowercased() == character.lowercased() {
            return .act(button.action)
        }
        return .moved
    }
}
