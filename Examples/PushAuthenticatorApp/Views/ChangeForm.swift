#if canImport(SwiftUI) && canImport(UIKit)
internal import SwiftUI
internal import Wording

/// The sign-in before a change. While a phone has to confirm it, the request is shown here too: it may be this phone.
struct ChangeForm: View {
    @Bindable private var viewModel: AuthenticatorViewModel

    init(viewModel: AuthenticatorViewModel) {
        _viewModel = Bindable(viewModel)
    }

    var body: some View {
        NavigationStack {
            List {
                if case .waitingForApproval = viewModel.progress, let request = viewModel.shownRequest {
                    Section(request.question) { RequestView(viewModel: viewModel, request: request) }
                }
                Section(viewModel.change.map(AccountText.explanation) ?? "") { fields }
                if viewModel.change == .enroll { Section(words("Or paste what the QR code of a sign-in page holds:")) { link } }
                if let progress = viewModel.progress { ProgressView(AccountText.progress(progress)) }
            }
            .navigationTitle(viewModel.change.map(AccountText.title) ?? "")
            .navigationBarTitleDisplayMode(.inline)
            .toolbar {
                ToolbarItem(placement: .cancellationAction) { Button(words("Cancel")) { viewModel.cancelChange() } }
            }
        }
    }

    private var fields: some View {
        Group {
            TextField(words("Username"), text: $viewModel.form.username)
                .keyboardType(.emailAddress)
                .textContentType(.username)
                .textInputAutocapitalization(.never)
                .autocorrectionDisabled()
            SecureField(words("Password"), text: $viewModel.form.password)
                .textContentType(.password)
                .onSubmit { Task { await viewModel.submit() } }
            TextField(words("Code"), text: $viewModel.form.code)
                .keyboardType(.numberPad)
                .textContentType(.oneTimeCode)
            Text(words("The code is for who has an authenticator app; without it a device of yours is asked."))
                .font(.footnote)
            if viewModel.change == .enroll {
                Button {
                    viewModel.wantsUserVerification = !viewModel.wantsUserVerification
                } label: {
                    Label(
                        words("Verify me before approving"),
                        systemImage: viewModel.wantsUserVerification ? "checkmark.circle.fill" : "circle")
                }
            }
            Button(viewModel.change.map(AccountText.title) ?? "") { Task { await viewModel.submit() } }
                .disabled(!viewModel.canSubmit)
        }
        .disabled(viewModel.progress != nil)
    }

    private var link: some View {
        Group {
            TextField(words("QR code"), text: $viewModel.link)
                .textInputAutocapitalization(.never)
                .autocorrectionDisabled()
            Button(words("Use the Code")) { Task { await viewModel.submitLink() } }
                .disabled(!viewModel.canUseLink)
        }
    }
}
#endif
