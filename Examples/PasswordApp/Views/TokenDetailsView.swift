#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import SwiftUI
internal import Wording

/// The tokens for developers. A production app does not have this screen.
struct TokenDetailsView: View {
    let viewModel: LoginViewModel
    @Environment(\.dismiss) private var dismiss

    var body: some View {
        NavigationStack {
            ScrollView {
                VStack(alignment: .leading, spacing: 20) {
                    if viewModel.tokenDetails.isEmpty {
                        empty
                    } else {
                        ForEach(viewModel.tokenDetails) { detail in section(detail) }
                    }
                }
                .padding()
            }
            .navigationTitle(viewModel.wording("Token Details"))
            .inlineTitle()
            .toolbar {
                ToolbarItem(placement: .confirmationAction) {
                    Button(viewModel.wording("Done")) { dismiss() }
                }
            }
        }
    }

    private func section(_ detail: TokenDetail) -> some View {
        VStack(alignment: .leading, spacing: 8) {
            Text(detail.title)
                .font(.headline)
            Text(detail.meaning)
                .font(.footnote)
                .foregroundStyle(.secondary)
            Text(detail.value)
                .font(detail.isMonospaced ? .system(.caption, design: .monospaced) : .caption)
                .foregroundStyle(.secondary)
                .textSelection(.enabled)
                // VoiceOver does not read a token aloud.
                .spoken(detail.isMonospaced ? detail.title : detail.value)
                .padding()
                .frame(maxWidth: .infinity, alignment: .leading)
                .background(Color.secondary.opacity(0.1))
                .cornerRadius(8)
        }
    }

    private var empty: some View {
        VStack(spacing: 16) {
            Image(systemName: "key.slash")
                .font(.system(size: 50))
                .foregroundStyle(.gray)
                .silent()
            Text(viewModel.wording("No Token Available"))
                .font(.headline)
            Text(viewModel.wording("Please sign in to view token details"))
                .font(.subheadline)
                .foregroundStyle(.secondary)
                .multilineTextAlignment(.center)
        }
        .padding()
    }
}

#if os(iOS)
#Preview("Tokens") { TokenDetailsView(viewModel: LoginViewModel(authService: InMemoryAuthService(.authenticated))) }
#Preview("No tokens") { TokenDetailsView(viewModel: LoginViewModel(authService: InMemoryAuthService())) }
#endif
#endif
