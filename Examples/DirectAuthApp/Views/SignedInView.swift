#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import SwiftUI
internal import Wording

/// The signed-in user and the possible actions.
struct SignedInView: View {
    let viewModel: AuthViewModel

    var body: some View {
        VStack(spacing: 16) {
            Text(viewModel.wording("Signed in 🎉"))
                .font(.title2)
                .bold()
            ScrollView {
                Text(viewModel.idToken)
                    .font(.footnote)
                    .textSelection(.enabled)
                    .padding()
                    .background(.thinMaterial)
                    .cornerRadius(8)
                    .spoken(viewModel.wording("ID Token"))
            }
            .frame(maxHeight: 220)
            Button(viewModel.wording("Token Info")) { viewModel.showsTokenInfo = true }
                .disabled(viewModel.isLoading)
            Button(viewModel.wording("User Info")) { Task { await viewModel.showUserInfo() } }
                .disabled(viewModel.isLoading)
            Button(viewModel.wording("Refresh Token")) { Task { await viewModel.refreshToken() } }
                .disabled(viewModel.isLoading)
            Button(viewModel.wording("Sign Out"), role: .destructive) { Task { await viewModel.signOut() } }
            if let message = viewModel.message {
                Text(message)
                    .foregroundStyle(.red)
                    .font(.footnote)
            }
        }
        .padding()
    }
}
#endif
