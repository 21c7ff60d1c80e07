#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import SwiftUI
internal import Wording

/// The form for the user name and the password.
struct SignInForm: View {
    let viewModel: AuthViewModel

    var body: some View {
        VStack(spacing: 16) {
            Text(viewModel.wording("Countersign DirectAuth (Password + Push)"))
                .font(.headline)
                .multilineTextAlignment(.center)
            TextField(viewModel.wording("Email"), text: Bindable(viewModel).username)
                .textContentType(.username)
                .typed(on: .email)
            SecureField(viewModel.wording("Password"), text: Bindable(viewModel).password)
                .textContentType(.password)
                .onSubmit { Task { await viewModel.signIn() } }
            Button(viewModel.wording("Sign In")) {
                Task { await viewModel.signIn() }
            }
            .buttonStyle(.borderedProminent)
            .disabled(!viewModel.canSignIn)
            if let message = viewModel.message {
                Text(message)
                    .foregroundStyle(.red)
                    .font(.footnote)
            }
        }
    }
}
#endif
