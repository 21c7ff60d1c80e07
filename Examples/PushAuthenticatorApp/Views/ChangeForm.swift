#if canImport(SwiftUI) && canImport(UIKit) && !os(tvOS) && !os(watchOS)
internal import CountersignUI
internal import SwiftUI
internal import Wording

/// The sign-in before a change. If this phone must approve the sign-in, the form also shows the request.
struct ChangeForm: View {
    @Bindable private var viewModel: AuthenticatorViewModel

    init(viewModel: AuthenticatorViewModel) {
        _viewModel = Bindable(viewModel)
    }

    var body: some View {
        NavigationStack {
            List {
                if !viewModel.requestModel.requests.isEmpty {
                    Marked(text: AccountText.requestBehindForm, symbol: "exclamationmark.triangle")
                }
                // The error is not in an alert, because the user corrects the input in this form.
                if let message = viewModel.errorMessage { Text(message).foregroundStyle(.red) }
                Section(viewModel.change.map(AccountText.explanation) ?? "") { fields }
                if viewModel.change == .enroll { Section(words("Or paste the content of a sign-in page's QR code:")) { link } }
                if let progress = viewModel.progress { ProgressView(AccountText.progress(progress)) }
            }
            // While this change waits for an approval, the request can be its own.
            .behindRequests(of: viewModel, while: viewModel.progress != nil)
            .navigationTitle(viewModel.change.map(AccountText.title) ?? "")
            .navigationBarTitleDisplayMode(.inline)
            .toolbar {
                ToolbarItem(placement: .cancellationAction) { Button(words("Cancel")) { viewModel.cancelChange() } }
            }
        }
        .asksForPIN(of: viewModel) { true }
        .keptOpen(viewModel.progress != nil)
    }

    private var fields: some View {
        Group {
            TextField(words("Username"), text: $viewModel.form.userName)
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
            Text(words("Enter the code of your authenticator app, or leave it empty to approve on another device."))
                .font(.footnote)
            if viewModel.change == .enroll {
                SettingButton(title: words("Verify me before approving"), isOn: viewModel.wantsUserVerification) {
                    viewModel.wantsUserVerification = !viewModel.wantsUserVerification
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
