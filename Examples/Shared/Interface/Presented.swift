#if canImport(SwiftUI)
package import SwiftUI

extension Binding where Value == Bool {
    /// Returns a binding for a presentation that a view model describes with its own properties.
    ///
    /// ```swift
    /// .alert("Error", isPresented: .presented(viewModel) { $0.errorMessage != nil } close: { $0.errorMessage = nil }) { … }
    /// ```
    ///
    /// - Parameters:
    ///   - model: The view model.
    ///   - isShown: Whether the presentation is visible.
    ///   - close: Runs when the user closes the presentation.
    @MainActor
    package static func presented<Model: AnyObject & Sendable>(
        _ model: Model, when isShown: @escaping @MainActor @Sendable (Model) -> Bool,
        close: @escaping @MainActor @Sendable (Model) -> Void
    ) -> Binding<Bool> {
        Binding(get: { @MainActor in isShown(model) }, set: { @MainActor shown in if !shown { close(model) } })
    }
}
#endif
