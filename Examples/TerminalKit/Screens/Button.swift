/// A button. Return and the space bar press the button if it has the focus. Its letter presses it from anywhere except a field.
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

    /// Creates a button. A disabled button is shown in round brackets instead of square brackets.
    ///
    /// - Parameters:
    ///   - id: The id of the button, for the focus; `nil` for the label. Equal ids on a screen are made unique.
    ///   - key: The letter that presses the button; `nil` for none.
    ///   - isEnabled: Whether the user can press it.
    ///   - action: The action. A slow action must start a task.
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
