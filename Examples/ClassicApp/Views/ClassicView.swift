#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
public import SwiftUI
internal import Wording

/// The app's screen: the current state, and a button for each possible action.
public struct ClassicView: View {
    @State private var viewModel: ClassicViewModel

    /// Creates the screen with the settings of the app's `Okta.plist`.
    public init() {
        self.init(viewModel: ClassicViewModel(service: ClassicService()))
    }

    /// Creates the screen of a view model.
    public init(viewModel: ClassicViewModel) {
        _viewModel = State(initialValue: viewModel)
    }

    /// The content of the screen.
    public var body: some View {
        NavigationStack {
            ScrollView {
                VStack(alignment: .leading, spacing: 16) {
                    if viewModel.stage == .start { SignInForm(viewModel: viewModel) }
                    ForEach(viewModel.details.indices, id: \.self) { Text(verbatim: viewModel.details[$0]).textSelection(.enabled) }
                    if let text = viewModel.symbolText { SymbolView(text: text, label: viewModel.symbolLabel) }
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
                        ProgressView().spoken(words("One moment…"))
                    }
                }
                .frame(maxWidth: .infinity, alignment: .leading)
                .padding()
            }
            .navigationTitle(viewModel.headline)
        }
        .sheet(
            isPresented: .presented(viewModel) {
                $0.openAction != nil
            } close: {
                $0.closeForm()
            }
        ) { ActionForm(viewModel: viewModel).sized() }
        // An open form shows the error itself.
        .alert(
            words("Error"),
            isPresented: .presented(viewModel) {
                $0.errorMessage != nil && $0.openAction == nil
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

/// The form for the user name and the password.
private struct SignInForm: View {
    @Bindable private var viewModel: ClassicViewModel

    init(viewModel: ClassicViewModel) {
        _viewModel = Bindable(viewModel)
    }

    var body: some View {
        TextField(words("Username"), text: $viewModel.username)
            .textFieldStyle(.roundedBorder)
            .textContentType(.username)
            .typed(on: .email)
        SecureField(words("Password"), text: $viewModel.password)
            .textFieldStyle(.roundedBorder)
            .textContentType(.password)
            .onSubmit { Task { await viewModel.signIn() } }
        Button(words("Sign In")) { Task { await viewModel.signIn() } }
            .buttonStyle(.borderedProminent)
            .disabled(!viewModel.canSignIn)
    }
}

#if os(iOS)
/// A preview of the app in one state of a sign-in.
private struct StatePreview: View {
    @State private var viewModel: ClassicViewModel

    init(_ sample: InMemoryClassicService.Sample) {
        _viewModel = State(initialValue: ClassicViewModel(service: InMemoryClassicService(sample)))
    }

    var body: some View {
        ClassicView(viewModel: viewModel)
            .task {
                viewModel.username = "jane.doe@example.com"
                viewModel.password = "secret"
                await viewModel.signIn()
            }
    }
}

#Preview("Sign-in form") { ClassicView(viewModel: ClassicViewModel(service: InMemoryClassicService())) }
#Preview("Signed in") { ClassicView(viewModel: ClassicViewModel(service: InMemoryClassicService(user: "jane.doe@example.com"))) }
#Preview("Factors") { StatePreview(.factors) }
#Preview("A push with a number") { StatePreview(.push) }
#Preview("A code to scan, dark") { StatePreview(.enrollment).preferredColorScheme(.dark) }
#Preview("A password that ends soon, large") { StatePreview(.password).dynamicTypeSize(.accessibility3) }
#endif
#endif
