#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import SwiftUI
internal import Wording

/// The view during the wait for the user's approval on another device.
struct WaitingForPushView: View {
    let number: String?
    let wording: Wording
    let onCancel: @MainActor () -> Void

    var body: some View {
        VStack(spacing: 16) {
            ProgressView().silent()
            Text(wording("Approve the push on your device."))
                .multilineTextAlignment(.center)
            if let number {
                Text(wording("Pick this number there: %@", number))
                    .font(.title2)
                    .bold()
            }
            Button(wording("Cancel"), role: .cancel, action: onCancel)
        }
        .padding()
    }
}
#endif
