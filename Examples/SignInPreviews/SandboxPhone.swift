#if canImport(SwiftUI) && os(iOS)
internal import AuthFoundation
internal import CountersignSandbox
internal import CountersignUI
internal import DeviceAuthenticator
internal import Foundation
internal import PushAuthenticatorApp
internal import SwiftUI

/// Jane's phone and a sign-in that waits for her approval, with a server that runs inside of the preview.
struct SandboxPhone: View {
    /// Held as long as the preview is shown.
    @State private var sandbox: Sandbox?
    @State private var phone: AuthenticatorViewModel?

    var body: some View {
        Group {
            if let phone { PhoneView(viewModel: phone) } else { ProgressView() }
        }
        .task { await start() }
    }

    private func start() async {
        // A preview must not use the sessions of a real app.
        await Task { @CredentialActor in Credential.tokenStorage = MemoryTokenStorage() }.value
        let folder = URL.temporaryDirectory.appending(path: UUID().uuidString, directoryHint: .isDirectory)
        let application = ApplicationConfig(applicationName: "Phone", applicationVersion: "1.0", applicationGroupId: "phone")
        guard let sandbox = try? await Sandbox.start(.init(listening: .inProcess)),
            let device = try? DeviceAuthenticatorBuilder(applicationConfig: application).storageDirectory(folder)
                .keyStore(FileDeviceKeyStore(directory: folder)).urlSession(sandbox.transport).clock(sandbox.clock).create()
        else { return }
        let phone = AuthenticatorViewModel(
            device: device,
            authenticator: DeviceAuthenticatorConfig(orgURL: sandbox.origin, oidcClientId: SandboxApplication.phone.clientID),
            session: sandbox.transport, clock: sandbox.clock)
        let session = SignInSession(client: sandbox.client(.directAuth))
        let (name, password) = (SandboxUser.jane.login, SandboxUser.jane.password ?? "")
        phone.begin(.enroll)
        (phone.form.userName, phone.form.password) = (name, password)
        await phone.submit()
        (self.sandbox, self.phone) = (sandbox, phone)
        (session.form.userName, session.form.password) = (name, password)
        await session.submit()
    }
}

#Preview("A request on a phone") { SandboxPhone() }
#endif
