#if canImport(SwiftUI) && canImport(UIKit)
public import SwiftUI
internal import Wording

/// The app's one screen: the state, and a button for each thing that it allows.
public struct ClassicView: View {
    @State private var viewModel: ClassicViewModel

    /// Signs in with the settings of the app's `Okta.plist`.
    public init() {
        self.init(viewModel: ClassicViewModel(service: ClassicService()))
    }

    /// Shows a view model.
    ///
    /// - Parameter viewModel: The view model.
    public init(viewModel: ClassicViewModel) {
        _viewModel = State(initialValue: viewModel)
    }

    /// The screen.
    public var body: some View {
        NavigationStack {
            ScrollView {
                VStack(alignment: .leading, spacing: 16) {
                    if viewModel.stage == .start { SignInForm(viewModel: viewModel) }
                    ForEach(viewModel.details, id: \.self) { Text(verbatim: $0).textSelection(.enabled) }
                    if let text = viewModel.symbolText { SymbolView(text: text) }
                    ForEach(viewModel.actions) { action in
                        Button(action.title, role: action.isCancel ? .cancel : nil) { Task { await viewModel.select(action) } }
                            .buttonStyle(.bordered)
                            .disabled(viewModel.isLoading)
                    }
                    if viewModel.stage == .done(hasTokens: true) {
                        Button(words("Sign Out"), role: .destructive) { Task { await viewModel.signOut() } }
                            .disabled(viewModel.isLoading)
                    }
                    if viewModel.isWaiting {
                        ProgressView(words("Waiting for your device…"))
                    } else if viewModel.isLoading {
                        ProgressView()
                    }
                }
                .frame(maxWidth: .infinity, alignment: .leading)
                .padding()
            }
            .navigationTitle(viewModel.headline)
        }
        .sheet(isPresented: isFormShown) { ActionForm(viewModel: viewModel) }
        .alert(words("Error"), isPresented: isErrorShown) {
            Button(words("OK"), role: .cancel) { viewModel.errorMessage = nil }
        } message: {
            Text(viewModel.errorMessage ?? "")
        }
    }

    private var isFormShown: Binding<Bool> {
        let viewModel = viewModel
        return Binding(
            get: { @MainActor in viewModel.openAction != nil }, set: { @MainActor isShown in if !isShown { viewModel.closeForm() } })
    }

    private var isErrorShown: Binding<Bool> {
        let viewModel = viewModel
        // While the form is open, the form shows it.
        return Binding(
            get: { @MainActor in viewModel.errorMessage != nil && viewModel.openAction == nil },
            set: { @MainActor isShown in if !isShown { viewModel.errorMessage = nil } })
    }
}

/// Name and password.
private struct SignInForm: View {
    @Bindable private var viewModel: ClassicViewModel

    init(viewModel: ClassicViewModel) {
        _viewModel = Bindable(viewModel)
    }

    var body: some View {
        TextField(words("Username"), text: $viewModel.username)
            .textFieldStyle(.roundedBorder)
            .keyboardType(.emailAddress)
            .textContentType(.username)
            .textInputAutocapitalization(.never)
            .autocorrectionDisabled()
        SecureField(words("Password"), text: $viewModel.password)
            .textFieldStyle(.roundedBorder)
            .textContentType(.password)
            .onSubmit { Task { await viewModel.signIn() } }
        Button(words("Sign In")) { Task { await viewModel.signIn() } }
            .buttonStyle(.borderedProminent)
            .disabled(!viewModel.canSignIn)
    }
}

#if DEBUG && !os(Linux)
#Preview("Sign-in form") { ClassicView(viewModel: ClassicViewModel(service: PreviewClassicService())) }
#Preview("Signed in") { ClassicView(viewModel: ClassicViewModel(service: PreviewClassicService(user: "jane.doe@example.com"))) }
#endif
#endif
