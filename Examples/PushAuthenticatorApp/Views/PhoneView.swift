#if canImport(SwiftUI) && canImport(UIKit) && !os(tvOS) && !os(watchOS)
internal import Interface
public import SwiftUI
internal import Wording

/// The app's main screen: the pending request, and the accounts.
public struct PhoneView: View {
    @State private var viewModel: AuthenticatorViewModel

    /// Creates the screen of a view model.
    ///
    /// - Parameter viewModel: The view model. Pass the same view model to ``PushNotifications``.
    public init(viewModel: AuthenticatorViewModel) {
        _viewModel = State(initialValue: viewModel)
    }

    /// The content of the screen.
    public var body: some View {
        NavigationStack {
            List {
                if let request = viewModel.shownRequest {
                    Section(request.question) { RequestView(viewModel: viewModel, request: request) }
                }
                Section(words("Accounts")) {
                    if viewModel.accounts.isEmpty { Text(words("There are no accounts on this device.")) }
                    ForEach(viewModel.accounts) { account in
                        Button {
                            viewModel.openAccount = account.id
                        } label: {
                            VStack(alignment: .leading) {
                                Text(verbatim: account.name)
                                Text(verbatim: AccountText.detail(of: account))
                                    .font(.footnote)
                                    .foregroundStyle(.secondary)
                            }
                        }
                        .spoken(AccountText.spoken(of: account))
                    }
                    Button(words("Add Account")) { viewModel.begin(.enroll) }
                }
                Section {
                    Button(words("Check for Requests")) { Task { await viewModel.retrieve() } }
                        .disabled(viewModel.isLoading || viewModel.accounts.isEmpty)
                    if let notice = viewModel.notice { Marked(text: notice, symbol: "checkmark.circle") }
                    if viewModel.isLoading { ProgressView(words("One moment…")) }
                }
            }
            .navigationTitle(words("Push authenticator"))
        }
        .whenActive { [viewModel] in await viewModel.didBecomeActive() }
        .sheet(
            isPresented: .presented(viewModel) {
                $0.openAccount != nil
            } close: {
                $0.openAccount = nil
            }
        ) { AccountView(viewModel: viewModel) }
        .presentsForm(of: viewModel) { [viewModel] in viewModel.openAccount == nil }
        .asksForPIN(of: viewModel) { [viewModel] in viewModel.front == .home }
        .tellsErrors(of: viewModel) { [viewModel] in viewModel.front == .home }
    }
}

#if os(iOS)
@MainActor
private func device(
    _ accounts: [Account] = [.sample()], requests: [ApprovalRequest] = [], number: String? = nil,
    _ prepare: (AuthenticatorViewModel) -> Void = { _ in }
) -> PhoneView {
    let viewModel = AuthenticatorViewModel(service: InMemoryAuthenticatorService(accounts, requests: requests, number: number))
    prepare(viewModel)
    return PhoneView(viewModel: viewModel)
}

#Preview("No account") { device([]) }
#Preview("A request with a number") { device(requests: [.sample(numbers: ["17", "42", "93"])]) }
#Preview("Settings, with a request") {
    device([.sample(verifiesUser: true)], requests: [.sample(message: "Pay 10 euros")]) { $0.openAccount = Account.sample().id }
}
#Preview("Removal") { device(number: "42") { $0.begin(.remove(Account.sample().id)) } }
#Preview("Trouble, dark, large") {
    device([.sample(answersCIBA: true, trouble: words("Suspended by the organization"))], requests: [.sample()])
        .preferredColorScheme(.dark)
        .dynamicTypeSize(.accessibility2)
}
#endif
#endif
