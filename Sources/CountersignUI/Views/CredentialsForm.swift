#if canImport(SwiftUI) && canImport(Darwin)
internal import AuthFoundation
internal import Foundation
internal import SwiftUI

/// The form for the user name and the password, and the other methods.
struct CredentialsForm: View {
    private enum Field { case userName, password }

    @Bindable private var session: SignInSession
    @FocusState private var focus: Field?
    @Environment(\.signInTexts) private var texts

    init(session: SignInSession) {
        _session = Bindable(session)
    }

    var body: some View {
        VStack(spacing: 16) {
            if session.offers(.password) || session.offers(.passkey) { userName }
            if session.offers(.password) {
                password
                MainButton(texts.signIn, isBusy: session.isBusy, action: submit)
                    .disabled(!session.canSubmit)
            }
            if session.offers(.passkey) {
                Button {
                    Task { await session.signInWithPasskey() }
                } label: {
                    Label(texts.signInWithPasskey, systemImage: "person.badge.key")
                        .frame(maxWidth: .infinity)
                }
                .buttonStyle(.bordered)
                .disabled(session.isBusy || session.form.userName.isEmpty)
            }
            if session.offers(.browser) { browser }
            if session.isBusy {
                CancelButton(session: session)
            } else if let page = session.options.recoveryURL {
                Link(destination: page) { Text(verbatim: texts.forgotPassword) }
            }
        }
        .onAppear { focus = session.form.userName.isEmpty ? .userName : .password }
        // After a wrong password, the field is empty again.
        .onChange(of: session.problem?.code) { if session.problem != nil { focus = .password } }
    }

    private var userName: some View {
        TextField(texts.userName, text: $session.form.userName)
            .signInField()
            .textContentType(.username)
            .autocorrectionDisabled()
            #if !os(macOS)
        .textInputAutocapitalization(.never)
            #endif
            #if os(iOS) || os(tvOS) || os(visionOS)
        .keyboardType(.emailAddress)
        #endif
        .submitLabel(.next)
        .focused($focus, equals: .userName)
        .onSubmit { focus = .password }
        .disabled(session.isBusy)
    }

    private var password: some View {
        SecureField(texts.password, text: $session.form.password)
            .signInField()
            .textContentType(.password)
            .submitLabel(.go)
            .focused($focus, equals: .password)
            .onSubmit(submit)
            .disabled(session.isBusy)
    }

    @ViewBuilder private var browser: some View {
        if session.offers(.password) {
            Button(texts.signInWithBrowser, action: openBrowser)
                .buttonStyle(.bordered)
                .disabled(session.isBusy)
        } else {
            MainButton(texts.signInWithBrowser, isBusy: session.isBusy, action: openBrowser)
                .disabled(session.isBusy)
        }
    }

    private func submit() { Task { await session.submit() } }

    private func openBrowser() { Task { await session.signInWithBrowser() } }
}

extension View {
    /// Gives a field the border that the system has for forms.
    func signInField() -> some View {
        #if os(tvOS) || os(watchOS)
        self
        #else
        textFieldStyle(.roundedBorder)
        #endif
    }
}
#endif
