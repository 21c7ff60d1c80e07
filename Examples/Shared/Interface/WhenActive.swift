#if canImport(SwiftUI)
package import SwiftUI

extension View {
    /// Runs an action when the view appears, and whenever the app becomes active.
    package func whenActive(_ action: @escaping @MainActor @Sendable () async -> Void) -> some View {
        #if os(iOS)
        modifier(WhenActive(action: action))
        #else
        task { await action() }
        #endif
    }
}

#if os(iOS)
private struct WhenActive: ViewModifier {
    @Environment(\.scenePhase) private var scenePhase
    let action: @MainActor @Sendable () async -> Void

    func body(content: Content) -> some View {
        content.onChange(of: scenePhase, initial: true) { _, phase in
            if phase == .active { Task { await action() } }
        }
    }
}
#endif
#endif
