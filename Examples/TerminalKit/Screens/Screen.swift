/// The content of a terminal: a title, elements from top to bottom, and an optional alert.
///
/// A screen is a value, made anew of the state of a view model each time that state changes, as SwiftUI's views are. ``TerminalProgram`` draws
/// it, keeps the focus, and calls its actions.
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
/// Texts from elsewhere (names, messages of a server) may be put in as they are: what would steer the terminal is taken out where they are
/// drawn.
@MainActor
public struct Screen {
    /// The action of Esc.
    public struct Back {
        let label: String
        let action: @MainActor () -> Void

        /// Describes what Esc does.
        ///
        /// - Parameters:
        ///   - label: What the hints call it, such as "Close".
        ///   - action: What it does.
        public init(_ label: String, action: @escaping @MainActor () -> Void) {
            self.label = label
            self.action = action
        }
    }

    /// A question or a message that everything else waits for.
    public struct Alert {
        let title: String
        let message: String
        fileprivate(set) var buttons: [Button]

        /// Describes an alert.
        ///
        /// - Parameters:
        ///   - title: Its title.
        ///   - message: What it says; may have lines.
        ///   - buttons: Its buttons, one at least; Esc presses the last one that is enabled, which also has the focus at first if the first one is
        ///     destructive.
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

    /// Describes a screen.
    ///
    /// - Parameters:
    ///   - title: What it is called; on the first line.
    ///   - back: What Esc does; nil for nothing.
    ///   - alert: Covers the elements, if there is one.
    ///   - redrawInterval: How often it is made anew although nothing has changed, for one that shows the time; nil for never.
    ///   - isDense: Whether it does without the empty lines below the title and above the hints.
    ///   - elements: What it shows, from top to bottom. What does not fit is scrolled to where the focus is.
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

/// Puts elements below each other.
@resultBuilder
public enum ScreenBuilder {
    /// One element.
    public static func buildExpression(_ element: Element) -> [Element] { [element] }
    /// Several elements.
    public static func buildExpression(_ elements: [Element]) -> [Element] { elements }
    /// One after the other.
    public static func buildBlock(_ parts: [Element]...) -> [Element] { parts.flatMap { $0 } }
    /// An `if` without `else`.
    public static func buildOptional(_ part: [Element]?) -> [Element] { part ?? [] }
    /// The part of an `if` that is true.
    public static func buildEither(first part: [Element]) -> [Element] { part }
    /// The part of an `else`.
    public static func buildEither(second part: [Element]) -> [Element] { part }
    /// A loop.
    public static func buildArray(_ parts: [[Element]]) -> [Element] { parts.flatMap { $0 } }
}

/// Puts buttons beside each other.
@resultBuilder
public enum ButtonsBuilder {
    /// One button.
    public static func buildExpression(_ button: Button) -> [Button] { [button] }
    /// Several buttons.
    public static func buildExpression(_ buttons: [Button]) -> [Button] { buttons }
    /// One after the other.
    public static func buildBlock(_ parts: [Button]...) -> [Button] { parts.flatMap { $0 } }
    /// An `if` without `else`.
    public static func buildOptional(_ part: [Button]?) -> [Button] { part ?? [] }
    /// The part of an `if` that is true.
    public static func buildEither(first part: [Button]) -> [Button] { part }
    /// The part of an `else`.
    public static func buildEither(second part: [Button]) -> [Button] { part }
    /// A loop.
    public static func buildArray(_ parts: [[Button]]) -> [Button] { parts.flatMap { $0 } }
}
