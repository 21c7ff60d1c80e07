#if canImport(SwiftUI) && canImport(UIKit)
internal import Interface
public import SwiftUI
internal import Wording

/// The app's first screen: the request that waits, and the accounts.
public struct PhoneView: View {
    @State private var viewModel: AuthenticatorViewModel

    /// Shows a view model.
    ///
    /// - Parameter viewModel: The view model; give it to ``PushNotifications`` too.
    public init(viewModel: AuthenticatorViewModel) {
        _viewModel = State(initialValue: viewModel)
    }

    /// The screen.
    public var body: some View {
        NavigationStack {
            List {
                if let request = viewModel.shownRequest {
                    Section(request.question) { RequestView(viewModel: viewModel, request: request) }
                }
                Section(words("Accounts")) {
                    if viewModel.accounts.isEmpty { Text(words("No account is on this device.")) }
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
                    }
                    Button(words("Add Account")) { viewModel.begin(.enroll) }
                }
                Section {
                    Button(words("Check for Requests")) { Task { await viewModel.retrieve() } }
                        .disabled(viewModel.isLoading || viewModel.accounts.isEmpty)
                    if let notice = viewModel.notice { Label(notice, systemImage: "checkmark.circle") }
                    if viewModel.isLoading { ProgressView() }
                }
            }
            .navigationTitle(words("Push authenticator"))
        }
        .whenActive { [viewModel] in await viewModel.didBecomeActive() }
        .sheet(
            isPresented: .presented(viewModel) {
                $0.pin.question != nil
            } close: {
                $0.pin.cancel()
            }
        ) { PINView(pin: viewModel.pin) }
        .sheet(
            isPresented: .presented(viewModel) {
                $0.openAccount != nil
            } close: {
                $0.openAccount = nil
            }
        ) { AccountView(viewModel: viewModel) }
        .sheet(
            isPresented: .presented(viewModel) {
                $0.change != nil && $0.openAccount == nil
            } close: {
                $0.cancelChange()
            }
        ) {
            ChangeForm(viewModel: viewModel)
        }
        .alert(
            words("Error"),
            isPresented: .presented(viewModel) {
                $0.errorMessage != nil
            } close: {
                $0.errorMessage = nil
            }
        ) {
            Button(words("OK"), role: .cancel) { viewModel.errorMessage = nil }
        } message: {
            Text(viewModel.errorMessage ?? "")
        }
    }
}

#if DEBUG && !os(Linux)
#Preview { PhoneView(viewModel: AuthenticatorViewModel(service: PreviewAuthenticatorService())) }
#endif
#endif
