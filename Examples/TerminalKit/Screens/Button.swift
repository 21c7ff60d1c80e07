/// A button. Return and the space bar press it when it has the focus, and its letter from anywhere except a field.
@MainActor
public struct Button {
    /// The role of a button.
    public enum Role: Sendable {
        case normal
        /// The default action.
        case prominent
        /// An action that ends or deletes something.
        case destructive
    }

    var id: String
    let label: String
    let key: Character?
    let role: Role
    let isEnabled: Bool
    let action: @MainActor () -> Void

    /// Creates a button. A disabled one is shown in round brackets instead of square ones.
    ///
    /// - Parameters:
    ///   - label: The label.
    ///   - id: Identifies the button for the focus; `nil` for the label. Equal ids on a screen are made unique.
    ///   - key: The letter that presses it.
    ///   - role: The role.
    ///   - isEnabled: Whether the user can press it.
    ///   - action: The action. A slow action starts a task.
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
