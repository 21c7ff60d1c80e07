#if canImport(SwiftUI) && canImport(UIKit)
internal import SwiftUI
internal import Wording

/// The settings of the account that is open.
struct AccountView: View {
    let viewModel: AuthenticatorViewModel

    var body: some View {
        NavigationStack {
            List {
                if let account { settings(of: account) }
            }
            .navigationTitle(account?.name ?? "")
            .navigationBarTitleDisplayMode(.inline)
            .toolbar {
                ToolbarItem(placement: .cancellationAction) { backButton }
            }
        }
        .sheet(isPresented: isChanging) { ChangeForm(viewModel: viewModel) }
        .alert(words("Remove from This Device Only"), isPresented: isRemoving) {
            Button(words("Remove"), role: .destructive) { Task { await viewModel.confirmRemoval() } }
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
                if let trouble = account.trouble { Label(trouble, systemImage: "exclamationmark.triangle") }
            }
            Section {
                setting(words("Verify me before approving"), isOn: account.verifiesUser) {
                    viewModel.begin(.userVerification(!account.verifiesUser, of: account.id))
                }
                setting(words("Approve requests of apps (CIBA)"), isOn: account.answersCIBA) {
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

    /// A button rather than a switch: what it does may be refused, and then nothing has moved.
    private func setting(_ title: String, isOn: Bool, change: @escaping @MainActor () -> Void) -> some View {
        Button(action: change) {
            Label(title, systemImage: isOn ? "checkmark.circle.fill" : "circle")
        }
    }

    private var isChanging: Binding<Bool> {
        let viewModel = viewModel
        return Binding(
            get: { @MainActor in viewModel.change != nil }, set: { @MainActor isShown in if !isShown { viewModel.cancelChange() } })
    }

    private var isRemoving: Binding<Bool> {
        let viewModel = viewModel
        return Binding(
            get: { @MainActor in viewModel.removing != nil }, set: { @MainActor isShown in if !isShown { viewModel.removing = nil } })
    }
}
#endif
