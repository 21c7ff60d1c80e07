#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import SwiftUI
internal import Wording

/// The tokens for developers. A production app does not show them.
struct TokenInfoView: View {
    let viewModel: AuthViewModel

    var body: some View {
        CoverView(title: viewModel.wording("Token Info"), close: viewModel.wording("Close")) {
            Text(viewModel.wording("Anyone who sees these tokens can use them."))
                .font(.footnote)
                .foregroundStyle(.secondary)
                .padding(.horizontal)
            Text(viewModel.tokenInfo)
                .font(.system(.body, design: .monospaced))
                .textSelection(.enabled)
                .spoken(viewModel.spokenTokenInfo)
                .padding()
                .frame(maxWidth: .infinity, alignment: .leading)
        }
    }
}
#endif
