/// The content of a terminal: a title, elements from top to bottom, and an optional alert.
///
/// A screen is a value, like a SwiftUI view: it is created from the state of a view model after each change. ``TerminalProgram`` draws the
/// screen, keeps the focus, and calls the actions.
///
/// ```swift
/// Screen("Sign in") {
///     Element.field("Email", text: model.email, set: { model.email = $0 })
///     Element.secureField("Password", text: model.password, set: { model.password = $0 }, submit: { Task { await model.signIn() } })
///     Element.buttons {
///         Button("Sign In", role: .prominent, isEnabled: model.canSubmit) { Task { await model.signIn() } }
///     }
///     if let error = model.errorMessage { Element.text(error, .error) }
/// }
/// ```
///
/// Texts from servers can be inserted unchanged, because drawing removes terminal control characters.
@MainActor
public struct Screen {
    /// The action of Esc.
    public struct Back {
        let label: String
        let action: @MainActor () -> Void

        /// Creates the action of Esc.
        ///
        /// - Parameter label: The label in the hints, for example "Close".
        public init(_ label: String, action: @escaping @MainActor () -> Void) {
            self.label = label
            self.action = action
        }
    }

    /// A question or a message that covers the screen.
    public struct Alert {
        let title: String
        let message: String
        fileprivate(set) var buttons: [Button]

        /// Creates an alert.
        ///
        /// - Parameters:
        ///   - message: The message, which can have several lines.
        ///   - buttons: The buttons, at least one. Esc presses the last enabled button. This button also has the initial focus if the first
        ///     button is destructive.
        public init(_ title: String, message: String, @ButtonsBuilder buttons: () -> [Button]) {
            self.title = title
            self.message = message
            self.buttons = buttons()
        }
    }

    let title: String
    let back: Back?
    let alert: Alert?
    let redrawInterval: Duration?
    let isDense: Bool
    let elements: [Element]

    /// Creates a screen.
    ///
    /// - Parameters:
    ///   - title: The title on the first line.
    ///   - back: The action of Esc; `nil` for none.
    ///   - alert: The alert that covers the elements; `nil` for none.
    ///   - redrawInterval: The interval of updates without a change, for a screen that shows the time; `nil` for none.
    ///   - isDense: Whether the empty lines below the title and above the hints are omitted.
    ///   - elements: The elements from top to bottom. A screen that does not fit scrolls to the focus.
    public init(
        _ title: String, back: Back? = nil, alert: Alert? = nil, redrawInterval: Duration? = nil, isDense: Bool = false,
        @ScreenBuilder elements: () -> [Element]
    ) {
        self.title = title
        self.back = back
        var buttonIDs = DistinctIDs()
        self.alert = alert.map { alert in
            var alert = alert
            alert.buttons = buttonIDs.apply(to: alert.buttons)
            return alert
        }
        self.redrawInterval = redrawInterval
        self.isDense = isDense
        var ids = DistinctIDs()
        self.elements = ids.apply(to: elements())
    }
}

/// A result builder for a list of elements.
@resultBuilder
public enum ScreenBuilder {
    /// One element.
    public static func buildExpression(_ element: Element) -> [Element] { [element] }
    /// Several elements.
    public static func buildExpression(_ elements: [Element]) -> [Element] { elements }
    /// A sequence.
    public static func buildBlock(_ parts: [Element]...) -> [Element] { parts.flatMap { $0 } }
    /// An `if` without `else`.
    public static func buildOptional(_ part: [Element]?) -> [Element] { part ?? [] }
    /// The first branch of an `if`.
    public static func buildEither(first part: [Element]) -> [Element] { part }
    /// The second branch of an `if`.
    public static func buildEither(second part: [Element]) -> [Element] { part }
    /// A loop.
    public static func buildArray(_ parts: [[Element]]) -> [Element] { parts.flatMap { $0 } }
}

/// A result builder for a row of buttons.
@resultBuilder
public enum ButtonsBuilder {
    /// One button.
    public static func buildExpression(_ button: Button) -> [Button] { [button] }
    /// Several buttons.
    public static func buildExpression(_ buttons: [Button]) -> [Button] { buttons }
    /// A sequence.
    public static func buildBlock(_ parts: [Button]...) -> [Button] { parts.flatMap { $0 } }
    /// An `if` without `else`.
    public static func buildOptional(_ part: [Button]?) -> [Button] { part ?? [] }
    /// The first branch of an `if`.
    public static func buildEither(first part: [Button]) -> [Button] { part }
    /// The second branch of an `if`.
    public static func buildEither(second part: [Button]) -> [Button] { part }
    /// A loop.
    public static func buildArray(_ parts: [[Button]]) -> [Button] { parts.flatMap { $0 } }
}
