#if canImport(SwiftUI)
package import SwiftUI

extension Binding where Value == Bool {
    /// Whether something is presented, where a view model says so in words of its own.
    ///
    /// ```swift
    /// .alert("Error", isPresented: .presented(viewModel) { $0.errorMessage != nil } close: { $0.errorMessage = nil }) { … }
    /// ```
    ///
    /// - Parameters:
    ///   - model: The view model.
    ///   - isShown: Whether it is presented now.
    ///   - close: What to do when the person closes it.
    /// - Returns: The binding.
    @MainActor
    package static func presented<Model: AnyObject & Sendable>(
        _ model: Model, when isShown: @escaping @MainActor @Sendable (Model) -> Bool,
        close: @escaping @MainActor @Sendable (Model) -> Void
    ) -> Binding<Bool> {
        Binding(get: { @MainActor in isShown(model) }, set: { @MainActor shown in if !shown { close(model) } })
    }
}
#endif
