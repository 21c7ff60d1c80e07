#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import SwiftUI
internal import Wording

extension View {
    /// Shows errors and API responses in alerts. SwiftUI shows an alert only over the view that presents it, so each covering view needs
    /// its own alerts.
    func alerts(
        of viewModel: AuthViewModel, where isOnTop: @escaping @MainActor @Sendable (AuthViewModel) -> Bool = { _ in true }
    ) -> some View {
        alert(
            words("Error"),
            isPresented: .presented(viewModel) {
                $0.errorMessage != nil && isOnTop($0)
            } close: {
                $0.errorMessage = nil
            }
        ) {
            Button(words("OK"), role: .cancel) { viewModel.errorMessage = nil }
        } message: {
            Text(viewModel.errorMessage ?? "")
        }
        .alert(
            words("Message Response"),
            isPresented: .presented(viewModel) {
                $0.serverMessage != nil && isOnTop($0)
            } close: {
                $0.serverMessage = nil
            }
        ) {
            Button(words("OK"), role: .cancel) { viewModel.serverMessage = nil }
        } message: {
            Text(viewModel.serverMessage ?? "")
        }
    }
}
#endif
