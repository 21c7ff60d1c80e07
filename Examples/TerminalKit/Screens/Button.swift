/// Something to press, by Return or the space bar where the focus is on it, or by its letter from anywhere but a field.
@MainActor
public struct Button {
    /// The purpose.
    public enum Role: Sendable {
        case normal
        /// The usual choice.
        case prominent
        /// It ends or deletes something.
        case destructive
    }

    var id: String
    let label: String
    let key: Character?
    let role: Role
    let isEnabled: Bool
    let action: @MainActor () -> Void

    /// Describes a button. One that is disabled is shown in round brackets instead of square ones, and can't be pressed.
    ///
    /// - Parameters:
    ///   - label: What it says.
    ///   - id: What the focus is kept by; nil for the label. Of several alike on a screen, all but the first get another one.
    ///   - key: The letter that presses it.
    ///   - role: What it is for.
    ///   - isEnabled: Whether it can be pressed.
    ///   - action: What it does; what takes time begins a task.
    public init(
        _ label: String, id: String? = nil, key: Character? = nil, role: Role = .normal, isEnabled: Bool = true,
        action: @escaping @MainActor () -> Void
    ) {
        self.label = label
        self.id = id ?? label
        self.key = key
        self.role = role
        self.isEnabled = isEnabled
        self.action = action
    }
}
