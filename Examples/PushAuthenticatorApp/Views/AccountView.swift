#if canImport(SwiftUI) && canImport(UIKit) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import SwiftUI
internal import Wording

/// The settings of the open account.
struct AccountView: View {
    let viewModel: AuthenticatorViewModel

    var body: some View {
        NavigationStack {
            List {
                if let account { settings(of: account) }
                if let notice = viewModel.notice { Marked(text: notice, symbol: "checkmark.circle") }
                if viewModel.isLoading { ProgressView(words("One moment…")) }
            }
            .behindRequests(of: viewModel)
            .navigationTitle(account?.name ?? "")
            .navigationBarTitleDisplayMode(.inline)
            .toolbar {
                ToolbarItem(placement: .cancellationAction) { backButton }
            }
        }
        .presentsForm(of: viewModel) { [viewModel] in viewModel.openAccount != nil }
        .asksForPIN(of: viewModel) { [viewModel] in viewModel.isShowingAccount }
        .tellsErrors(of: viewModel) { [viewModel] in viewModel.isShowingAccount }
        .alert(
            words("Remove from This Device Only"),
            isPresented: .presented(viewModel) {
                $0.removing != nil
            } close: {
                $0.removing = nil
            }
        ) {
            Button(words("Remove"), role: .destructive) {
                // The account is not read from `removing`, which is `nil` if the alert has been closed already.
                if let id = viewModel.openAccount { Task { await viewModel.removeFromDevice(id) } }
            }
            Button(words("Keep"), role: .cancel) { viewModel.removing = nil }
        } message: {
            Text(AccountText.removal)
        }
    }

    private var backButton: some View {
        Button(words("Back")) { viewModel.openAccount = nil }
    }

    private var account: Account? { viewModel.openAccount.flatMap { viewModel.account($0) } }

    private func settings(of account: Account) -> some View {
        Group {
            Section(words("Organization")) {
                Text(verbatim: account.organization.absoluteString)
                if let trouble = account.trouble { Marked(text: trouble, symbol: "exclamationmark.triangle") }
            }
            Section {
                SettingButton(title: words("Verify me before approving"), isOn: account.verifiesUser) {
                    viewModel.begin(.userVerification(!account.verifiesUser, of: account.id))
                }
                SettingButton(title: words("Approve requests of apps (CIBA)"), isOn: account.answersCIBA) {
                    Task { await viewModel.setCIBA(!account.answersCIBA, of: account.id) }
                }
            }
            Section {
                Button(words("Remove Account"), role: .destructive) { viewModel.begin(.remove(account.id)) }
                Button(words("Remove from This Device Only"), role: .destructive) { viewModel.removing = account.id }
            }
        }
        .disabled(viewModel.isLoading)
    }
}

extension AuthenticatorViewModel {
    fileprivate var isShowingAccount: Bool {
        if case .account = front { true } else { false }
    }
}
#endif
