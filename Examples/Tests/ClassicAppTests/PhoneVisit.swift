import AuthFoundation
import CountersignSandbox
import DeviceAuthenticator
import ExampleTestSupport
import Foundation
import OktaDirectAuth
import Testing

/// A flag that tells whether an action has finished.
@MainActor
private final class Ended {
    var isTrue = false
}

extension ClassicVisit {
    /// Enrolls another phone for Jane. One of her phones approves the sign-in for it.
    func addPhone(named name: String, beside first: VirtualPhone) async throws {
        let signIn = Task { [sandbox] in
            let client = OAuth2Client(
                OAuth2Client.Configuration(
                    issuerURL: sandbox.origin, clientId: SandboxApplication.phone.clientID,
                    scope: ["openid", "okta.myAccount.appAuthenticator.manage"]), session: sandbox.transport, clock: sandbox.clock)
            let flow = DirectAuthenticationFlow(client: client)
            _ = try await flow.start(Self.jane, with: .password(Self.password))
            guard case .success(let token) = try await flow.resume(with: .oob(channel: .push)) else { throw CancellationError() }
            return token
        }
        let ended = Ended()
        Task {
            _ = await signIn.result
            ended.isTrue = true
        }
        try await first.approveNext()
        // The app polls again after five seconds.
        _ = await sandbox.moveOn(by: 6) { ended.isTrue }
        let token = try await signIn.value
        let folder = URL.temporaryDirectory.appending(path: "phone-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        let device = try DeviceAuthenticatorBuilder(
            applicationConfig: ApplicationConfig(applicationName: "Phone", applicationVersion: "1", applicationGroupId: "phone")
        ).storageDirectory(folder).keyStore(FileDeviceKeyStore(directory: folder)).urlSession(sandbox.transport).clock(sandbox.clock)
            .deviceProfile(
                DeviceProfile(displayName: name, platform: "IOS", manufacturer: "Countersign", model: "Phone1,1", osVersion: "17.0")
            ).create()
        _ = try await device.enroll(
            authenticationToken: .bearer(token.accessToken),
            authenticatorConfig: DeviceAuthenticatorConfig(orgURL: sandbox.origin, oidcClientId: SandboxApplication.phone.clientID),
            enrollmentParameters: EnrollmentParameters(deviceToken: .tokenData(Data(repeating: 7, count: 32))))
    }
}
