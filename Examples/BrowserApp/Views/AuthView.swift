#if canImport(SwiftUI) && canImport(UIKit)
internal import Interface
public import SwiftUI
internal import Wording

/// The app's one screen: whether somebody is signed in, and what can be done then.
public struct AuthView: View {
    @State private var viewModel: AuthViewModel

    /// Signs in with the settings of the app's `Okta.plist`.
    public init() {
        self.init(viewModel: AuthViewModel(authService: AuthService()))
    }

    /// Shows a view model.
    ///
    /// - Parameter viewModel: The view model.
    public init(viewModel: AuthViewModel) {
        _viewModel = State(initialValue: viewModel)
    }

    /// The screen.
    public var body: some View {
        ScrollView {
            VStack(spacing: 20) {
                Text(AuthText.status(viewModel.status))
                    .font(.title2)
                    .fontWeight(.medium)
                    .multilineTextAlignment(.center)
                if let token = viewModel.idToken { TokenText(token: token) }
                authButton
                if viewModel.isAuthenticated { signedInButtons }
                if viewModel.isLoading { ProgressView() }
            }
            .padding()
        }
        .whenActive { [viewModel] in await viewModel.didBecomeActive() }
        .alert(
            words("Error"),
            isPresented: .presented(viewModel) {
                $0.errorMessage != nil
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
                $0.serverMessage != nil
            } close: {
                $0.serverMessage = nil
            }
        ) {
            Button(words("OK"), role: .cancel) { viewModel.serverMessage = nil }
        } message: {
            Text(viewModel.serverMessage ?? "")
        }
        .fullScreenCover(item: $viewModel.tokenInfo) { TokenInfoView(tokenInfo: $0) }
        .fullScreenCover(item: $viewModel.userInfo) { UserInfoView(userInfo: $0) }
    }

    private var authButton: some View {
        Button(AuthText.mainButton(viewModel)) { Task { await viewModel.handleAuthAction() } }
            .buttonStyle(.borderedProminent)
            .disabled(viewModel.isLoading)
    }

    private var signedInButtons: some View {
        Group {
            Button("🔄 " + words("Refresh Token")) { Task { await viewModel.refreshToken() } }
            Button {
                viewModel.fetchTokenInfo()
            } label: {
                Label(words("Token Info"), systemImage: "info.circle")
            }
            .foregroundStyle(.blue)
            Button("👤 " + words("User Info")) { Task { await viewModel.fetchUserInfo() } }
            Button("🎁 " + words("Get Message")) { Task { await viewModel.fetchMessage() } }
        }
        .font(.subheadline)
        .disabled(viewModel.isLoading)
    }
}

/// The id token. An app that is not an example does not show it.
private struct TokenText: View {
    let token: String

    var body: some View {
        VStack {
            Text(words("ID Token") + ":")
            Text(verbatim: token)
                .monospaced()
                .textSelection(.enabled)
        }
        .font(.caption)
        .multilineTextAlignment(.center)
    }
}

#if DEBUG && !os(Linux)
#Preview("Signed in") { AuthView(viewModel: AuthViewModel(authService: PreviewAuthService(status: .loggedIn))) }
#Preview("Signed out") { AuthView(viewModel: AuthViewModel(authService: PreviewAuthService(status: .loggedOut))) }
#endif
#endif
