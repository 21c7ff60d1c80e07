import AuthFoundation
import CountersignSandbox
import DeviceAuthenticator
import Foundation
import OktaDirectAuth
import TestSupport
import Testing

@testable import CountersignUI

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
    /// The transport of the device.
    let wire: Wire
    private let folder: URL
    /// The sign-ins of ``push()`` that wait for an approval.
    private var waits: [Task<Void, Never>] = []

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

    /// A clock that is ahead of the sandbox's clock.
    private struct FastClock: OAuth2Clock {
        let clock: SandboxClock
        let offset: TimeInterval

        var now: Date { clock.now.addingTimeInterval(offset) }
        func sleep(for interval: TimeInterval) async throws { try await clock.sleep(for: interval) }
    }

    init(_ sandbox: Sandbox, secondsFast: TimeInterval = 0) throws {
        self.sandbox = sandbox
        wire = Wire(sandbox.transport)
        let clock = FastClock(clock: sandbox.clock, offset: secondsFast)
        folder = URL.temporaryDirectory.appending(path: "phone-\(UUID().uuidString)", directoryHint: .isDirectory)
        let application = ApplicationConfig(applicationName: "Phone", applicationVersion: "1", applicationGroupId: "phone")
        application.apsEnvironment = .development
        device = try DeviceAuthenticatorBuilder(applicationConfig: application).storageDirectory(folder)
            .keyStore(FileDeviceKeyStore(directory: folder)).userVerifier(pin).urlSession(wire).clock(clock).create()
        model = PushRequestModel(device: device, clock: clock)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs a test with a sandbox and an enrolled phone.
    /// - Parameters:
    ///   - edit: A change of the org file.
    ///   - verifiesUser: Whether the enrollment has a user verification key.
    ///   - pushToken: The phone's push token; `nil` for a phone without pushes.
    ///   - acceptsCIBA: Whether the enrollment accepts requests without a sign-in.
    ///   - secondsFast: The seconds by which the phone's clock is ahead.
    ///   - body: The test.
    static func play(
        organization edit: (String) -> String = { $0 }, verifiesUser: Bool = false, pushToken: Data? = nil, acceptsCIBA: Bool = false,
        secondsFast: TimeInterval = 0, _ body: @MainActor (PhoneVisit) async throws -> Void
    ) async throws {
        let configuration = Sandbox.Configuration(organization: edit(Sandbox.standardOrganization))
        try await withSandbox(configuration) { sandbox in
            let visit = try PhoneVisit(sandbox, secondsFast: secondsFast)
            try await visit.enroll(verifiesUser: verifiesUser, pushToken: pushToken, acceptsCIBA: acceptsCIBA)
            defer { for wait in visit.waits { wait.cancel() } }
            try await body(visit)
        }
    }

    /// Enrolls the phone for a user.
    func enroll(
        _ user: SandboxUser = jane, verifiesUser: Bool = false, pushToken: Data? = nil, acceptsCIBA: Bool = false
    ) async throws {
        let client = OAuth2Client(
            OAuth2Client.Configuration(
                issuerURL: sandbox.origin, clientId: SandboxApplication.phone.clientID, scope: ["openid", Self.scope]),
            session: sandbox.transport, clock: sandbox.clock)
        let flow = DirectAuthenticationFlow(client: client)
        guard case .success(let token) = try await flow.start(user.login, with: .password(user.password ?? "")) else {
            throw CancellationError()
        }
        var parameters = EnrollmentParameters(deviceToken: pushToken.map { .tokenData($0) } ?? .empty)
        parameters.enableUserVerification(enable: verifiesUser)
        parameters.enableCIBATransactions(enable: acceptsCIBA)
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

    /// Fetches until a request arrives, and returns it after the user has had the time to read it.
    func request() async throws -> PushRequest {
        try await arrival(of: 1)
        letUserRead()
        return try #require(model.current)
    }

    /// Fetches until a number of requests are pending.
    func arrival(of count: Int) async throws {
        try #require(
            await eventually {
                await model.fetch()
                return model.requests.count == count
            }, "\(String(describing: model.problem))")
    }

    /// Advances the clock by the time that a request must be visible before an approval.
    func letUserRead() { sandbox.advance(by: PushRequestModel.readingTime) }

    /// Begins a sign-in of Jane whose result does not matter, such as that of an attacker.
    func push() async throws -> DirectAuthenticationFlow {
        let flow = DirectAuthenticationFlow(client: sandbox.client(.directAuth))
        guard case .mfaRequired = try await flow.start(Self.jane.login, with: .password(Self.jane.password ?? "")) else {
            throw CancellationError()
        }
        waits.append(Task { _ = try? await flow.resume(with: .oob(channel: .push)) })
        return flow
    }

    /// Holds the responses to requests whose path ends like this. The first gate opens when a response arrives. The test opens the second
    /// gate to release the responses.
    func hold(_ path: String) -> (arrived: Gate, release: Gate) {
        let (arrived, release) = (Gate(), Gate())
        wire.change { requested, data in
            guard requested.hasSuffix(path) else { return data }
            arrived.open()
            await release.wait()
            return data
        }
        return (arrived, release)
    }

    /// Withdraws the request of a sign-in.
    func withdraw(_ flow: DirectAuthenticationFlow) async {
        await flow.reset()
        await flow.settled()
    }

    /// Makes the organization's keys unavailable, so that the phone cannot verify new requests.
    func loseKeys() {
        // Stored keys are valid for a day.
        sandbox.advance(by: 25 * 3_600)
        sandbox.inject(Fault(.status(503), at: .keys, count: 1_000))
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

/// The requests of a bank without a sign-in (CIBA).
extension PhoneVisit {
    /// Adds the bank to an org file.
    static func withBank(_ organization: String) -> String {
        let bank =
            "{id: bank-app, name: Bank, type: service, authentication: client_secret_basic, secret: bank-app-secret-1, "
            + "grant_types: [ciba], assignment: everyone, sign_on_policy: one-factor}"
        return organization.replacing("- mfa-webauthn\n", with: "- mfa-webauthn\n              - ciba\n")
            .replacing("  - id: service-app", with: "  - \(bank)\n  - id: service-app")
    }

    /// Asks Jane as the bank. Returns the id of the request.
    func askAsBank(_ message: String) async throws -> String {
        let values = ["scope": "openid", "login_hint": Self.jane.login, "binding_message": message]
        return try #require(try await post("v1/bc/authorize", values)["auth_req_id"])
    }

    /// Whether the bank's request was approved.
    func bankHasTokens(_ request: String) async throws -> Bool {
        try await post("v1/token", ["grant_type": "urn:openid:params:grant-type:ciba", "auth_req_id": request])["id_token"] != nil
    }

    private func post(_ path: String, _ values: [String: String]) async throws -> [String: String] {
        var request = URLRequest(url: sandbox.issuer.appending(path: path))
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.setValue("Basic " + Data("bank-app:bank-app-secret-1".utf8).base64EncodedString(), forHTTPHeaderField: "Authorization")
        let parts = values.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
        request.httpBody = Data(parts.joined(separator: "&").utf8)
        let answer = try JSONSerialization.jsonObject(with: try await sandbox.transport.data(for: request).0)
        return try #require(answer as? [String: Any]).compactMapValues { $0 as? String }
    }
}

extension AsyncStream<Data> {
    /// Returns the first push as the system passes it to the app.
    func userInfo() async throws -> sending [String: Any] {
        var iterator = makeAsyncIterator()
        let payload = try #require(await iterator.next())
        return try #require(try JSONSerialization.jsonObject(with: payload) as? [String: Any])
    }
}
