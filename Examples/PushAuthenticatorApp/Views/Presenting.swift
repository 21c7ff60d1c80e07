#if canImport(SwiftUI) && canImport(UIKit)
internal import Interface
internal import SwiftUI
internal import Wording

extension View {
    /// Asks for the PIN on this view, while it is in front: what is covered presents nothing.
    func asksForPIN(of viewModel: AuthenticatorViewModel, inFront isInFront: @escaping @MainActor @Sendable () -> Bool) -> some View {
        sheet(
            // It has a button that closes it, and is closed by nothing else: to give no PIN is to refuse.
            isPresented: .presented(viewModel) {
                $0.pin.question != nil && isInFront()
            } close: { _ in
            }
        ) { PINView(pin: viewModel.pin, reason: viewModel.pinReason) }
    }

    /// Tells what went wrong in an alert over this view, while it is in front.
    func tellsErrors(of viewModel: AuthenticatorViewModel, inFront isInFront: @escaping @MainActor @Sendable () -> Bool) -> some View {
        alert(
            words("Error"),
            isPresented: .presented(viewModel) {
                $0.errorMessage != nil && $0.pin.question == nil && isInFront()
            } close: {
                if isInFront() { $0.errorMessage = nil }
            }
        ) {
            Button(words("OK"), role: .cancel) { viewModel.errorMessage = nil }
        } message: {
            Text(viewModel.errorMessage ?? "")
        }
    }

    /// Presents the form of a change over this view.
    func presentsForm(of viewModel: AuthenticatorViewModel, inFront isInFront: @escaping @MainActor @Sendable () -> Bool) -> some View {
        sheet(
            isPresented: .presented(viewModel) {
                $0.change != nil && isInFront()
            } close: {
                // One that is under way is given up by its button only.
                if $0.progress == nil { $0.cancelChange() }
            }
        ) { ChangeForm(viewModel: viewModel) }
    }

    /// Not to be swiped away.
    func keptOpen(_ isKept: Bool) -> some View {
        #if os(iOS)
        interactiveDismissDisabled(isKept)
        #else
        self
        #endif
    }
}
#endif
