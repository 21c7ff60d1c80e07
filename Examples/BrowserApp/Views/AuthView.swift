#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
public import SwiftUI
internal import Wording

/// The app's screen: the sign-in state and its actions.
public struct AuthView: View {
    @State private var viewModel: AuthViewModel

    /// Creates the screen with the settings of the app's `Okta.plist`.
    public init() {
        self.init(viewModel: AuthViewModel(authService: AuthService()))
    }

    /// Creates the screen of a view model.
    public init(viewModel: AuthViewModel) {
        _viewModel = State(initialValue: viewModel)
    }

    /// The content of the screen.
    public var body: some View {
        ScrollView {
            VStack(spacing: 20) {
                Text(AuthText.status(viewModel.status).text)
                    .font(.title2)
                    .fontWeight(.medium)
                    .multilineTextAlignment(.center)
                    .spoken(AuthText.status(viewModel.status).words)
                if let token = viewModel.idToken { TokenText(token: token) }
                authButton
                if viewModel.isAuthenticated { signedInButtons }
                if viewModel.isLoading { ProgressView().spoken(words("One moment…")) }
            }
            .padding()
            .frame(maxWidth: .infinity)
        }
        .whenActive { [viewModel] in await viewModel.didBecomeActive() }
        .alerts(of: viewModel) { $0.tokenInfo == nil && $0.userInfo == nil }
        .cover(item: $viewModel.tokenInfo) { TokenInfoView(tokenInfo: $0).alerts(of: viewModel) }
        .cover(item: $viewModel.userInfo) { UserInfoView(userInfo: $0).alerts(of: viewModel) }
    }

    private var authButton: some View {
        Button(AuthText.mainButton(viewModel)) { Task { await viewModel.handleAuthAction() } }
            .buttonStyle(.borderedProminent)
            .disabled(viewModel.isLoading)
    }

    private var signedInButtons: some View {
        Group {
            Button(AuthText.refresh.text) { Task { await viewModel.refreshToken() } }
                .spoken(AuthText.refresh.words)
            Button {
                viewModel.fetchTokenInfo()
            } label: {
                Label(AuthText.tokenInfo.words, systemImage: "info.circle")
            }
            .foregroundStyle(.blue)
            Button(AuthText.userInfo.text) { Task { await viewModel.fetchUserInfo() } }
                .spoken(AuthText.userInfo.words)
            Button(AuthText.message.text) { Task { await viewModel.fetchMessage() } }
                .spoken(AuthText.message.words)
            Button(AuthText.privateMessage.text) { Task { await viewModel.fetchPrivateMessage() } }
                .spoken(AuthText.privateMessage.words)
        }
        .font(.subheadline)
        .disabled(viewModel.isLoading)
    }
}

/// The ID token. A production app does not show it.
private struct TokenText: View {
    let token: String

    var body: some View {
        VStack {
            Text(words("ID Token") + ":")
                .silent()
            Text(verbatim: token)
                .monospaced()
                .textSelection(.enabled)
                .spoken(words("ID Token"))
        }
        .font(.caption)
        .multilineTextAlignment(.center)
    }
}

#if DEBUG && !os(Linux)
#Preview("Signed in") { AuthView(viewModel: AuthViewModel(authService: PreviewAuthService(status: .loggedIn))) }
#Preview("Signed out") { AuthView(viewModel: AuthViewModel(authService: PreviewAuthService(status: .loggedOut))) }
#Preview("Session ended") { AuthView(viewModel: AuthViewModel(authService: PreviewAuthService(status: .sessionEnded))) }
#Preview("Signed in, dark, large") {
    AuthView(viewModel: AuthViewModel(authService: PreviewAuthService(status: .loggedIn)))
        .preferredColorScheme(.dark)
        .dynamicTypeSize(.accessibility2)
}
#endif
#endif
