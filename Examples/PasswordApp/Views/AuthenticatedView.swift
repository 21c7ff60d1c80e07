#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import SwiftUI
internal import Wording

/// The signed-in user and the possible actions.
struct AuthenticatedView: View {
    let viewModel: LoginViewModel

    var body: some View {
        ScrollView {
            VStack(spacing: 24) {
                header
                preview
                actions
                if viewModel.isLoading { ProgressView().spoken(viewModel.wording("One moment, please.")) }
                if let message = viewModel.message { ErrorBanner(message: message) }
            }
            .padding()
        }
    }

    private var header: some View {
        VStack(spacing: 12) {
            Image(systemName: "checkmark.circle.fill")
                .font(.system(size: 70))
                .foregroundStyle(.green)
                .silent()
            Text(viewModel.wording("Successfully Authenticated"))
                .font(.title2)
                .fontWeight(.bold)
            Text(viewModel.wording("You're now signed in to your account"))
                .font(.subheadline)
                .foregroundStyle(.secondary)
        }
        .padding(.top, 20)
    }

    private var preview: some View {
        VStack(alignment: .leading, spacing: 8) {
            Text(viewModel.wording("Access Token"))
                .font(.caption)
                .foregroundStyle(.secondary)
                .silent()
            ScrollView {
                Text(viewModel.token)
                    .font(.system(.caption, design: .monospaced))
                    .textSelection(.enabled)
                    .spoken(viewModel.wording("Access Token"))
                    .padding()
            }
            .frame(height: 120)
            .background(Color.secondary.opacity(0.1))
            .cornerRadius(8)
        }
    }

    private var actions: some View {
        VStack(spacing: 12) {
            WideButton(title: viewModel.wording("View Profile"), systemImage: "person.circle", colour: .blue) {
                viewModel.showsProfile = true
            }
            WideButton(title: viewModel.wording("Token Details"), systemImage: "key.fill", colour: .indigo) {
                viewModel.showsTokenDetails = true
            }
            WideButton(title: viewModel.wording("Refresh Token"), systemImage: "arrow.clockwise", colour: .orange) {
                Task { await viewModel.refreshToken() }
            }
            .disabled(viewModel.isLoading)
            WideButton(title: viewModel.wording("Sign Out"), systemImage: "rectangle.portrait.and.arrow.right", colour: .red) {
                Task { await viewModel.logout() }
            }
            .disabled(viewModel.isLoading)
        }
    }
}
#endif
