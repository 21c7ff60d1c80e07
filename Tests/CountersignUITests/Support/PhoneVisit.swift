import AuthFoundation
import CountersignSandbox
import CountersignUI
import DeviceAuthenticator
import Foundation
import OktaDirectAuth
import Testing

/// An authenticator app in the tests: Jane's phone, with a device of its own.
@MainActor
final class PhoneVisit {
    static let jane = SandboxUser.jane
    private static let scope = "okta.myAccount.appAuthenticator.manage"
    private static let topic = "dev.countersign.phone"

    let sandbox: Sandbox
    let device: any DeviceAuthenticatorProtocol
    let model: PushRequestModel
    /// The verification that the user gives; `nil` cancels it.
    let pin = Pin()
    private let folder: URL

    /// A verifier whose answer a test sets.
    final class Pin: UserVerifier {
        private let text = Locked<String?>("1234")

        /// Sets the PIN that the user types; `nil` cancels.
        func set(_ pin: String?) { text.exchange(pin) }

        func verify(_ request: UserVerificationRequest) async throws(UserVerificationFailure) -> UserVerification {
            guard let pin = text.withLock({ $0 }) else { throw .cancelled }
            return UserVerification(method: .pin, secret: Data(pin.utf8))
        }
    }

    init(_ sandbox: Sandbox) throws {
        self.sandbox = sandbox
        folder = URL.temporaryDirectory.appending(path: "phone-\(UUID().uuidString)", directoryHint: .isDirectory)
        let application = ApplicationConfig(applicationName: "Phone", applicationVersion: "1", applicationGroupId: "phone")
        application.apsEnvironment = .development
        device = try DeviceAuthenticatorBuilder(applicationConfig: application).storageDirectory(folder)
            .keyStore(FileDeviceKeyStore(directory: folder)).userVerifier(pin).urlSession(sandbox.transport).clock(sandbox.clock).create()
        model = PushRequestModel(device: device, clock: sandbox.clock)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs a test with a sandbox and an enrolled phone.
    static func play(
        organization edit: (String) -> String = { $0 }, verifiesUser: Bool = false, pushToken: Data? = nil,
        _ body: @MainActor (PhoneVisit) async throws -> Void
    ) async throws {
        let configuration = Sandbox.Configuration(organization: edit(Sandbox.standardOrganization))
        try await withSandbox(configuration) { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll(verifiesUser: verifiesUser, pushToken: pushToken)
            try await body(visit)
        }
    }

    private func enroll(verifiesUser: Bool, pushToken: Data?) async throws {
        let client = OAuth2Client(
            OAuth2Client.Configuration(
                issuerURL: sandbox.origin, clientId: SandboxApplication.phone.clientID, scope: ["openid", Self.scope]),
            session: sandbox.transport, clock: sandbox.clock)
        let flow = DirectAuthenticationFlow(client: client)
        guard case .success(let token) = try await flow.start(Self.jane.login, with: .password(Self.jane.password ?? "")) else {
            throw CancellationError()
        }
        var parameters = EnrollmentParameters(deviceToken: pushToken.map { .tokenData($0) } ?? .empty)
        parameters.enableUserVerification(enable: verifiesUser)
        _ = try await device.enroll(
            authenticationToken: .bearer(token.accessToken),
            authenticatorConfig: DeviceAuthenticatorConfig(orgURL: sandbox.origin, oidcClientId: SandboxApplication.phone.clientID),
            enrollmentParameters: parameters)
    }

    /// Begins a sign-in of Jane in another app. Ends when the app waits for the approval.
    func signInElsewhere() async throws -> (session: SignInSession, task: Task<Void, Never>) {
        let session = SignInSession(client: sandbox.client(.directAuth))
        (session.form.userName, session.form.password) = (Self.jane.login, Self.jane.password ?? "")
        let task = Task { await session.submit() }
        try #require(await eventually { session.step.kind == .push }, "\(session.state) \(String(describing: session.problem))")
        return (session, task)
    }

    /// Fetches until a request arrives, and returns it.
    func request() async throws -> PushRequest {
        try #require(
            await eventually {
                await model.fetch()
                return model.current != nil
            })
        return try #require(model.current)
    }

    /// Waits for the end of a sign-in elsewhere, and returns its session.
    func end(_ signIn: (session: SignInSession, task: Task<Void, Never>)) async -> SignInSession {
        sandbox.advance(by: 6)
        await signIn.task.value
        return signIn.session
    }

    /// Returns the payloads of the pushes to a token.
    func pushes(to token: Data) -> AsyncStream<Data> {
        let (pushes, entrance) = AsyncStream.makeStream(of: Data.self)
        let name = token.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
        sandbox.pushGateway.register(deviceToken: name, topic: Self.topic, environment: .development) {
            entrance.yield(Data($0.payload))
        }
        return pushes
    }
}
