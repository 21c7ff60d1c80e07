#if canImport(SwiftUI) && canImport(UIKit) && !os(tvOS) && !os(watchOS)
internal import CountersignUI
internal import SwiftUI

extension View {
    /// Shows the pending requests in place of this view, until the user has answered them.
    /// - Parameter isShown: Whether the user may answer now.
    @ViewBuilder func behindRequests(of viewModel: AuthenticatorViewModel, while isShown: Bool = true) -> some View {
        #if canImport(Darwin)
        if isShown, !viewModel.requestModel.requests.isEmpty {
            PushRequestView(model: viewModel.requestModel)
        } else {
            self
        }
        #else
        // The ready screen exists on Apple's systems only.
        self
        #endif
    }
}
#endif
