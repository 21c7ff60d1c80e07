#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
public import SwiftUI
internal import Wording

/// The app's screen: the form, and the signed-in user.
public struct LoginView: View {
    @State private var viewModel: LoginViewModel

    /// Creates the screen with the client of `Okta.plist`.
    public init() {
        self.init(viewModel: LoginViewModel())
    }

    init(viewModel: LoginViewModel) {
        _viewModel = State(initialValue: viewModel)
    }

    /// The content of the screen in the current state.
    public var body: some View {
        NavigationStack {
            Group {
                switch viewModel.authState {
                case .notAuthenticated, .error: LoginForm(viewModel: viewModel)
                case .authenticating: loading
                case .authenticated: AuthenticatedView(viewModel: viewModel)
                }
            }
            .navigationTitle(viewModel.wording("Countersign DirectAuth"))
        }
        .sheet(isPresented: $viewModel.showsProfile) { ProfileView(viewModel: viewModel).sized() }
        .sheet(isPresented: $viewModel.showsTokenDetails) { TokenDetailsView(viewModel: viewModel).sized() }
    }

    private var loading: some View {
        VStack(spacing: 16) {
            ProgressView().scaleEffect(1.5)
            Text(viewModel.wording("Signing in...")).font(.headline)
        }
    }
}

#if os(iOS)
#Preview("Form") { LoginView(viewModel: LoginViewModel(authService: InMemoryAuthService())) }
#Preview("Error") { LoginView(viewModel: LoginViewModel(authService: InMemoryAuthService(.error("The password is wrong.")))) }
#Preview("Signed in, dark, large") {
    LoginView(viewModel: LoginViewModel(authService: InMemoryAuthService(.authenticated)))
        .preferredColorScheme(.dark)
        .dynamicTypeSize(.accessibility2)
}
#endif
#endif
