#if canImport(SwiftUI) && canImport(UIKit) && !os(tvOS) && !os(watchOS)
internal import CountersignUI
internal import Interface
internal import SwiftUI
internal import Wording

extension View {
    /// Presents the PIN prompt on this view while it is visible, because a covered view cannot present.
    func asksForPIN(of viewModel: AuthenticatorViewModel, inFront isInFront: @escaping @MainActor @Sendable () -> Bool) -> some View {
        sheet(
            // Only its button closes the prompt, because a closed prompt is a cancelled verification.
            isPresented: .presented(viewModel) {
                $0.pin.question != nil && isInFront()
            } close: { _ in
            }
        ) { PINView(pin: viewModel.pin, reason: viewModel.pinReason) }
    }

    /// Shows errors in an alert on this view, while it is visible.
    func tellsErrors(of viewModel: AuthenticatorViewModel, inFront isInFront: @escaping @MainActor @Sendable () -> Bool) -> some View {
        alert(
            words("Error"),
            isPresented: .presented(viewModel) {
                // A pending request shows its own problems.
                $0.errorMessage != nil && $0.requestModel.requests.isEmpty && $0.pin.question == nil && isInFront()
            } close: {
                if isInFront() { $0.clearMessages() }
            }
        ) {
            Button(words("OK"), role: .cancel) { viewModel.clearMessages() }
        } message: {
            Text(viewModel.errorMessage ?? "")
        }
    }

    /// Presents the form of a change on this view.
    func presentsForm(of viewModel: AuthenticatorViewModel, inFront isInFront: @escaping @MainActor @Sendable () -> Bool) -> some View {
        sheet(
            isPresented: .presented(viewModel) {
                $0.change != nil && isInFront()
            } close: {
                // Only its button cancels a form in progress.
                if $0.progress == nil { $0.cancelChange() }
            }
        ) { ChangeForm(viewModel: viewModel) }
    }

    /// Prevents the user from closing a sheet with a swipe.
    func keptOpen(_ isKept: Bool) -> some View {
        #if os(iOS)
        interactiveDismissDisabled(isKept)
        #else
        self
        #endif
    }
}
#endif
