#if canImport(SwiftUI) && canImport(Darwin)
internal import AuthFoundation
internal import CountersignSandbox
internal import CountersignUI
internal import SwiftUI

/// A sign-in screen that really signs in: with a server that runs inside of the preview.
struct SandboxSignIn: View {
    var application = SandboxApplication.directAuth
    var organization = Sandbox.standardOrganization

    /// Held as long as the preview is shown.
    @State private var sandbox: Sandbox?
    @State private var session: SignInSession?

    var body: some View {
        Group {
            if let session { SignedIn().signInRequired(session) } else { ProgressView() }
        }
        .task { await start() }
    }

    private func start() async {
        // A preview must not use the sessions of a real app.
        await Task { @CredentialActor in Credential.tokenStorage = MemoryTokenStorage() }.value
        guard let sandbox = try? await Sandbox.start(.init(listening: .inProcess, organization: organization)),
            let phone = try? await sandbox.phone(for: SandboxUser.jane.login),
            let passkey = try? await sandbox.passkey(for: SandboxUser.jane.login, verifiesUser: false)
        else { return }
        phone.autoApprove = true
        let session = SignInSession(client: sandbox.client(application))
        session.passkeySigner = { try passkey.assertion(for: $0) }
        session.form.userName = SandboxUser.jane.login
        session.form.password = SandboxUser.jane.password ?? ""
        (self.sandbox, self.session) = (sandbox, session)
    }
}

/// The content of the app.
private struct SignedIn: View {
    @Environment(SignInSession.self) private var session

    var body: some View {
        VStack {
            Text(verbatim: session.displayName ?? "")
            Button("Sign out") { Task { await session.signOut() } }
        }
    }
}

#Preview("Password, then a push or a passkey") { SandboxSignIn() }
#Preview("One factor, dark, large") {
    SandboxSignIn(application: .password)
        .preferredColorScheme(.dark)
        .dynamicTypeSize(.accessibility3)
}
#endif
