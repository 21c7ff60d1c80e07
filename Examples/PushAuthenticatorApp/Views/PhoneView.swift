#if canImport(SwiftUI) && canImport(UIKit) && !os(tvOS) && !os(watchOS)
internal import CountersignUI
internal import Interface
public import SwiftUI
internal import Wording

/// The app's main screen: the pending requests, or else the accounts.
public struct PhoneView: View {
    @State private var viewModel: AuthenticatorViewModel

    /// Creates the screen of a view model.
    ///
    /// - Parameter viewModel: The view model. Pass its requests to `PushRequestNotifications`.
    public init(viewModel: AuthenticatorViewModel) {
        _viewModel = State(initialValue: viewModel)
    }

    /// The content of the screen.
    public var body: some View {
        NavigationStack {
            List {
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
            .behindRequests(of: viewModel)
            .navigationTitle(words("Push authenticator"))
        }
        .onChange(of: viewModel.requestModel.selected) { viewModel.showSelectedRequest() }
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
#endif
