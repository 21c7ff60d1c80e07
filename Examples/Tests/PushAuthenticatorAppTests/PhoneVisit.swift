import AuthFoundation
import AuthorizationServer
import CountersignSandbox
import Delivery
import DeviceAuthenticator
import ExampleTestSupport
import Foundation
import OktaDirectAuth
import Testing

@testable import PushAuthenticatorApp

/// The app on a sandbox, in a folder of its own.
@MainActor
final class PhoneVisit {
    static let jane = SandboxUser.jane
    private static let topic = "dev.countersign.phone"

    let sandbox: Sandbox
    let pin = PINPrompt()
    private(set) var model: AuthenticatorViewModel
    private let folder: URL

    init(_ sandbox: Sandbox) throws {
        self.sandbox = sandbox
        folder = URL.temporaryDirectory.appending(path: "phone-\(UUID().uuidString)", directoryHint: .isDirectory)
        model = try Self.open(folder, sandbox, pin)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Opens the app anew on what is stored.
    func reopen() throws { model = try Self.open(folder, sandbox, pin) }

    private static func open(_ folder: URL, _ sandbox: Sandbox, _ pin: PINPrompt) throws -> AuthenticatorViewModel {
        let device = try DeviceAuthenticatorBuilder(
            applicationConfig: {
                let application = ApplicationConfig(applicationName: "Phone", applicationVersion: "1", applicationGroupId: "phone")
                application.apsEnvironment = .development
                return application
            }()
        ).storageDirectory(folder).keyStore(FileDeviceKeyStore(directory: folder)).userVerifier(pin).urlSession(sandbox.transport)
            .clock(sandbox.clock).create()
        let service = AuthenticatorService(
            device: device,
            authenticator: DeviceAuthenticatorConfig(orgURL: sandbox.origin, oidcClientId: SandboxApplication.phone.clientID),
            session: sandbox.transport, clock: sandbox.clock)
        return AuthenticatorViewModel(service: service, pin: pin, clock: sandbox.clock)
    }

    // MARK: - The person

    /// Fills the open form and sends it.
    func submit(code: String = "", password: String = jane.password ?? "") async {
        model.form.username = Self.jane.login
        model.form.password = password
        model.form.code = code
        await model.submit()
    }

    /// Adds Jane's account.
    func enroll(verifiesUser: Bool = false) async throws {
        model.begin(.enroll)
        model.wantsUserVerification = verifiesUser
        async let submitted: Void = submit()
        if verifiesUser { try await give(pin: "1234") }
        await submitted
        try #require(model.accounts.map(\.name) == [Self.jane.login], "\(model.errorMessage ?? "")")
    }

    /// Waits until the PIN is asked for, and gives it.
    func give(pin text: String) async throws {
        try #require(await eventually { self.pin.question != nil })
        pin.pin = text
        pin.submit()
    }

    // MARK: - Elsewhere

    /// How a sign-in on another device ended.
    enum Outcome: Equatable {
        case tokens
        case tooLate
        /// In the server's word for it.
        case refused(String)
    }

    /// Begins a sign-in of Jane's on another device.
    func signInElsewhere(numbers: AsyncStream<String>.Continuation? = nil) async throws -> Task<Outcome, any Error> {
        let flow = DirectAuthenticationFlow(
            client: OAuth2Client(sandbox.configuration(.directAuth), session: sandbox.transport, clock: sandbox.clock))
        _ = try await flow.start(Self.jane.login, with: .password(Self.jane.password ?? ""))
        return Task {
            do {
                var status = try await flow.resume(with: .oob(channel: .push))
                if case .continuation(.transfer(_, let number)) = status {
                    numbers?.yield(number)
                    status = try await flow.resume(with: .transfer)
                }
                guard case .success = status else { throw SignInTrouble.unknownStep }
                return .tokens
            } catch DirectAuthenticationFlowError.pollingTimeoutExceeded {
                return .tooLate
            } catch let error as APIClientError {
                guard let code = error.serverError?.code else { throw error }
                return .refused(code.rawValue)
            }
        }
    }

    /// Lets whoever waits for an answer ask again at once, and waits for what a sign-in on another device comes to.
    func outcome(of signIn: Task<Outcome, any Error>) async throws -> Outcome {
        letTimePass()
        return try await signIn.value
    }

    /// Who asks every five seconds asks again.
    func letTimePass() { sandbox.advance(by: 6) }

    /// Asks for what waits until something does.
    func request() async throws -> ApprovalRequest {
        let model = model
        try #require(
            await eventually {
                await model.didBecomeActive()
                return !model.requests.isEmpty
            })
        return try #require(model.shownRequest)
    }

    /// Gives the phone a push token, and the pushes for it to somebody.
    func receivePushes(token: Data) -> AsyncStream<PushPayload> {
        let (pushes, entrance) = AsyncStream.makeStream(of: PushPayload.self)
        let name = token.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
        sandbox.pushGateway.register(deviceToken: name, topic: Self.topic, environment: .development) { push in
            guard let payload = try? JSONSerialization.jsonObject(with: Data(push.payload)) as? [String: Any] else { return }
            entrance.yield(PushPayload(payload))
        }
        return pushes
    }
}

extension AsyncStream {
    /// The first value.
    func first() async -> Element? { await first { _ in true } }
}

extension Sandbox.Configuration {
    /// That wants the person verified.
    static var withVerification: Sandbox.Configuration {
        Sandbox.Configuration(
            organization: OrgFile.sandboxDefault.replacing(
                "number_challenge: never", with: "number_challenge: never\n    user_verification: required"))
    }

    /// With a number to pick at each sign-in.
    static var withNumbers: Sandbox.Configuration {
        Sandbox.Configuration(
            organization: OrgFile.sandboxDefault.replacing("number_challenge: never", with: "number_challenge: always"))
    }
}
