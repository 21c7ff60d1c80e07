#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import SwiftUI
internal import Wording

/// The form for the user name and the password.
struct LoginForm: View {
    let viewModel: LoginViewModel

    var body: some View {
        ScrollView {
            VStack(spacing: 24) {
                header
                VStack(spacing: 16) {
                    TextField(viewModel.wording("Email or Username"), text: Bindable(viewModel).username)
                        .textFieldStyle(.roundedBorder)
                        .textContentType(.username)
                        .typed(on: .email)
                    SecureField(viewModel.wording("Password"), text: Bindable(viewModel).password)
                        .textFieldStyle(.roundedBorder)
                        .textContentType(.password)
                        .onSubmit { Task { await viewModel.login() } }
                }
                .padding(.horizontal)
                WideButton(title: viewModel.wording("Sign In"), colour: viewModel.canSubmit ? .blue : .gray) {
                    Task { await viewModel.login() }
                }
                .disabled(!viewModel.canSubmit)
                .padding(.horizontal)
                if let message = viewModel.message { ErrorBanner(message: message) }
            }
            .padding()
        }
    }

    private var header: some View {
        VStack(spacing: 8) {
            Image(systemName: "lock.shield")
                .font(.system(size: 60))
                .foregroundStyle(.blue)
                .silent()
            Text(viewModel.wording("Welcome Back"))
                .font(.title)
                .fontWeight(.bold)
            Text(viewModel.wording("Sign in with your Countersign credentials"))
                .font(.subheadline)
                .foregroundStyle(.secondary)
        }
        .padding(.top, 40)
    }
}
#endif
