#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
public import SwiftUI
internal import Wording

/// The app's screen: the form, the wait for the push, and the signed-in user.
public struct AuthView: View {
    @State private var viewModel: AuthViewModel

    /// Creates the screen with the client of `Okta.plist`.
    public init() {
        self.init(viewModel: AuthViewModel())
    }

    init(viewModel: AuthViewModel) {
        _viewModel = State(initialValue: viewModel)
    }

    /// The content of the screen in the current state.
    public var body: some View {
        // Large text, or a phone in landscape, needs scrolling.
        ScrollView {
            VStack {
                switch viewModel.state {
                case .idle, .failed:
                    SignInForm(viewModel: viewModel)
                case .authenticating:
                    ProgressView(viewModel.wording("Signing in..."))
                case .waitingForPush(let number):
                    WaitingForPushView(number: number, wording: viewModel.wording) { viewModel.cancelSignIn() }
                case .authorized:
                    SignedInView(viewModel: viewModel)
                    if viewModel.isLoading { ProgressView().spoken(viewModel.wording("One moment, please.")) }
                }
            }
            .padding()
            .frame(maxWidth: .infinity)
        }
        .cover(isPresented: $viewModel.showsTokenInfo) {
            TokenInfoView(viewModel: viewModel)
        }
        .cover(item: $viewModel.userInfo) { info in
            UserInfoView(userInfo: info.user, wording: viewModel.wording)
        }
    }
}

#if os(iOS)
#Preview("Form") { AuthView(viewModel: AuthViewModel(authService: InMemoryAuthService())) }
#Preview("Failed") { AuthView(viewModel: AuthViewModel(authService: InMemoryAuthService(.failed(errorMessage: "The password is wrong.")))) }
#Preview("Waiting") { AuthView(viewModel: AuthViewModel(authService: InMemoryAuthService(.waitingForPush(number: "42")))) }
#Preview("Form, large") { AuthView(viewModel: AuthViewModel(authService: InMemoryAuthService())).dynamicTypeSize(.accessibility5) }
#Preview("Tokens") { TokenInfoView(viewModel: AuthViewModel(authService: (try? InMemoryAuthService.signedIn()) ?? InMemoryAuthService())) }
#Preview("Signed in, dark, large") {
    AuthView(viewModel: AuthViewModel(authService: (try? InMemoryAuthService.signedIn()) ?? InMemoryAuthService()))
        .preferredColorScheme(.dark)
        .dynamicTypeSize(.accessibility2)
}
#endif
#endif
