import AuthFoundation
import CountersignSandbox
import CountersignUI
import DeviceAuthenticator
import ExampleTestSupport
import Foundation
import Testing

@testable import PushAuthenticatorApp

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The app with a sandbox and a folder of its own.
@MainActor
final class PhoneVisit {
    static let jane = SandboxUser.jane
    private static let topic = "dev.countersign.phone"

    let sandbox: Sandbox
    let pin = PINPrompt()
    private(set) var model: AuthenticatorViewModel
    private let folder: URL

    /// Creates a new phone, or a phone with a copy of another phone's data.
    init(_ sandbox: Sandbox, copying other: URL? = nil) throws {
        self.sandbox = sandbox
        folder = URL.temporaryDirectory.appending(path: "phone-\(UUID().uuidString)", directoryHint: .isDirectory)
        if let other { try FileManager.default.copyItem(at: other, to: folder) }
        model = try Self.open(folder, sandbox, pin)
    }

    /// Returns a second phone with a copy of this phone's data.
    func copy() throws -> PhoneVisit { try PhoneVisit(sandbox, copying: folder) }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Opens the app again with the stored data.
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
        return AuthenticatorViewModel(
            device: device,
            authenticator: DeviceAuthenticatorConfig(orgURL: sandbox.origin, oidcClientId: SandboxApplication.phone.clientID),
            session: sandbox.transport, pin: pin, clock: sandbox.clock)
    }

    // MARK: - The user

    /// Fills in the open form and submits it.
    func submit(_ user: SandboxUser = jane, code: String = "", password: String? = nil) async {
        model.form.userName = user.login
        model.form.password = password ?? user.password ?? ""
        model.form.code = code
        await model.submit()
    }

    /// Adds an account.
    func enroll(_ user: SandboxUser = jane, verifiesUser: Bool = false) async throws {
        let others = model.accounts.map(\.name).filter { $0 != user.login }
        model.begin(.enroll)
        model.wantsUserVerification = verifiesUser
        async let submitted: Void = submit(user)
        if verifiesUser { try await give(pin: "1234") }
        await submitted
        try #require(model.accounts.map(\.name).sorted() == (others + [user.login]).sorted(), "\(model.errorMessage ?? "")")
    }

    /// Adds an account with the QR code of a sign-in page.
    func use(link: String) async {
        model.begin(.enroll)
        model.link = link
        await model.submitLink()
    }

    /// Waits for the PIN prompt, and types the PIN.
    func give(pin text: String) async throws {
        try #require(await eventually { self.pin.question != nil })
        pin.pin = text
        pin.submit()
    }

    // MARK: - Elsewhere

    /// Begins a sign-in on another device.
    func signInElsewhere(
        of user: SandboxUser = jane, numbers: AsyncStream<String>.Continuation? = nil
    ) async throws -> SignInElsewhere {
        try await SignInElsewhere(sandbox, of: user, numbers: numbers)
    }

    /// Advances the clock by six seconds, so that a client that polls every five seconds polls again.
    func letTimePass() { sandbox.advance(by: 6) }

    /// Fetches pending requests until one arrives, opens it, and returns it after the user has had the time to read it.
    func request() async throws -> PushRequest {
        let model = model
        try #require(
            await eventually {
                await model.didBecomeActive()
                return model.requestModel.requests.count == 1
            })
        return try await read(try #require(model.requestModel.requests.first).id)
    }

    /// Opens a request if the app does not show it by itself, and returns it after the user has had the time to read it.
    @discardableResult
    func read(_ id: PushRequest.ID) async throws -> PushRequest {
        let requests = model.requestModel
        if requests.current?.id != id { requests.select(id) }
        try #require(await sandbox.moveOn(by: 1) { requests.canApprove })
        return try #require(requests.current)
    }

    /// Sends Jane a request without a sign-in (CIBA), as a bank. Returns the request's ID; `nil` if none of her phones accepts the request.
    func askAsBank(_ message: String) async throws -> String? {
        try await post("v1/bc/authorize", ["scope": "openid", "login_hint": Self.jane.login, "binding_message": message])["auth_req_id"]
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

    /// Registers a push token for the phone, and returns the pushes that it receives.
    func receivePushes(token: Data) -> AsyncStream<Data> {
        let (pushes, entrance) = AsyncStream.makeStream(of: Data.self)
        let name = token.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
        sandbox.pushGateway.register(deviceToken: name, topic: Self.topic, environment: .development) { push in
            entrance.yield(Data(push.payload))
        }
        return pushes
    }

    /// Passes a push to the app, as `PushRequestNotifications` and `PhoneView` do.
    ///
    /// - Parameter action: The action that the user chose on the notification; `nil` if the app is in the foreground.
    /// - Returns: Whether the push is a request.
    @discardableResult
    func receive(_ push: Data, action: String? = nil) async throws -> Bool {
        let userInfo = try #require(try JSONSerialization.jsonObject(with: push) as? [String: Any])
        let isRequest = await model.requestModel.receive(userInfo, action: action)
        model.showSelectedRequest()
        return isRequest
    }
}

/// The identifiers of notification actions.
enum PushAction {
    static let approve = "APPROVE_BUTTON"
    static let deny = "DENY_BUTTON"
    static let review = "REVIEW_BUTTON"
}

extension AsyncStream {
    /// Returns the first value.
    func first() async -> Element? { await first { _ in true } }
}

extension Sandbox.Configuration {
    /// An organization that requires user verification.
    static var withVerification: Sandbox.Configuration {
        Sandbox.Configuration(
            organization: Sandbox.standardOrganization.replacing(
                "number_challenge: never", with: "number_challenge: never\n    user_verification: required"))
    }

    /// An organization in which a bank may send requests without a sign-in.
    static var withBackchannel: Sandbox.Configuration {
        let bank =
            "{id: bank-app, name: Bank, type: service, authentication: client_secret_basic, secret: bank-app-secret-1, "
            + "grant_types: [ciba], assignment: everyone, sign_on_policy: one-factor}"
        return Sandbox.Configuration(
            organization: Sandbox.standardOrganization
                .replacing("- mfa-webauthn\n", with: "- mfa-webauthn\n              - ciba\n")
                .replacing("  - id: service-app", with: "  - \(bank)\n  - id: service-app"))
    }

    /// An organization in which a bank may send requests without a sign-in, and each sign-in has a number challenge.
    static var withBackchannelAndNumbers: Sandbox.Configuration {
        Sandbox.Configuration(
            organization: withBackchannel.organization?.replacing("number_challenge: never", with: "number_challenge: always"))
    }

    /// An organization with a number challenge at each sign-in.
    static var withNumbers: Sandbox.Configuration {
        Sandbox.Configuration(
            organization: Sandbox.standardOrganization.replacing("number_challenge: never", with: "number_challenge: always"))
    }
}
