/// A key that the user presses.
public enum Key: Hashable, Sendable {
    /// A typed character.
    case character(Character)
    /// A letter with Ctrl, for example `control("c")`.
    case control(Character)
    case enter, escape, tab, backTab, backspace, delete
    case up, down, left, right, home, end, pageUp, pageDown

    /// Creates the key with a name of the script language, such as `tab`, `shift-tab`, `enter`, `esc`, `ctrl-c`, `pageup`, or a single
    /// character; `nil` for an unknown name.
    ///
    /// - Parameter name: The name. Case matters only for single characters.
    public init?(named name: String) {
        if name.count == 1, let character = name.first {
            self = .character(character)
            return
        }
        let lower = name.lowercased()
        if lower.count == 6, lower.hasPrefix("ctrl-"), let letter = lower.last {
            self = .control(letter)
            return
        }
        guard let key = Self.names[lower] else { return nil }
        self = key
    }

    private static let names: [String: Key] = [
        "enter": .enter, "return": .enter, "esc": .escape, "escape": .escape, "tab": .tab, "shift-tab": .backTab,
        "backspace": .backspace, "delete": .delete, "up": .up, "down": .down, "left": .left, "right": .right, "home": .home, "end": .end,
        "pageup": .pageUp, "pagedown": .pageDown, "space": .character(" "),
    ]
}
