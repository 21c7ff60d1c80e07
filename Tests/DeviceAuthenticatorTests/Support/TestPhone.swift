import AuthFoundation
import Foundation
import JOSE
import TestSupport

@testable import DeviceAuthenticator

/// The log entries of an authenticator.
final class TestLog: DeviceAuthenticatorLogger {
    private let lines = Locked<[String]>([])
    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    private func add(_ event: String, _ message: String?) { lines.withLock { $0.append("\(event): \(message ?? "")") } }

    func debug(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        add(eventName, message)
    }
    func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        add(eventName, message)
    }
    func warning(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        add(eventName, message)
    }
    func uiEvent(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        add(eventName, message)
    }
    func error(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        add(eventName, message)
    }
}

/// A user who types a PIN, or cancels.
final class TestVerifier: UserVerifier {
    private let outcome: Locked<Result<UserVerification, UserVerificationFailure>>
    private let asked = Locked<[UserVerificationRequest]>([])

    init(_ outcome: Result<UserVerification, UserVerificationFailure> = .success(UserVerification(method: .pin, secret: Data("2468".utf8))))
    {
        self.outcome = Locked(outcome)
    }

    var requests: [UserVerificationRequest] { asked.withLock { $0 } }
    func answer(_ outcome: Result<UserVerification, UserVerificationFailure>) { self.outcome.withLock { $0 = outcome } }

    func verify(_ request: UserVerificationRequest) async throws(UserVerificationFailure) -> UserVerification {
        asked.withLock { $0.append(request) }
        return try outcome.withLock { $0 }.get()
    }
}

/// A phone with an org: an authenticator with its own folder, a network that contains only the org, and a fixed clock.
struct TestPhone {
    static let token = AuthToken.bearer("manage-secret")

    let org: TestOrg
    let folder: TemporaryFolder
    let clock: ManualClock
    let log = TestLog()
    let verifier: TestVerifier?
    let config: DeviceAuthenticatorConfig

    init(
        org: TestOrg = TestOrg(), folder: TemporaryFolder = TemporaryFolder(), clock: ManualClock = ManualClock(sleeps: .skipped),
        verifier: TestVerifier? = TestVerifier(), client: String = "client-1"
    ) throws {
        self.org = org
        self.folder = folder
        self.clock = clock
        self.verifier = verifier
        config = DeviceAuthenticatorConfig(orgURL: try url(org.url), oidcClientId: client)
    }

    static var profile: DeviceProfile {
        DeviceProfile(
            displayName: "Ada's <b>phone</b>", platform: "LINUX", manufacturer: "ACME", model: "x1", osVersion: "6.1.0",
            screenLockType: .passcode)
    }

    var builder: DeviceAuthenticatorBuilder {
        let app = ApplicationConfig(applicationName: "AcmeApp", applicationVersion: "3.0", applicationGroupId: "group.acme")
        app.pushSettings.apsEnvironment = .development
        let builder = DeviceAuthenticatorBuilder(applicationConfig: app)
            .storageDirectory(folder.url).urlSession(org).clock(clock).deviceProfile(Self.profile).addLogger(log)
            .keyStore(FileDeviceKeyStore(directory: folder.url, secretCost: 10))
        if let verifier { builder.userVerifier(verifier) }
        return builder
    }

    var authenticator: any DeviceAuthenticatorProtocol {
        get throws { try builder.create() }
    }

    @discardableResult
    func enroll(
        push token: DeviceToken = .tokenData(Data([0x00, 0xFF, 0x12])), verification: Bool? = nil, ciba: Bool = false
    ) async throws -> AuthenticatorEnrollment {
        var parameters = EnrollmentParameters(deviceToken: token)
        if let verification { parameters.enableUserVerification(enable: verification) }
        if ciba { parameters.enableCIBATransactions(enable: true) }
        return try await enroll(parameters)
    }

    @discardableResult
    func enroll(_ parameters: EnrollmentParameters) async throws -> AuthenticatorEnrollment {
        let enrollment = try await authenticator.enroll(
            authenticationToken: Self.token, authenticatorConfig: config, enrollmentParameters: parameters)
        guard let enrollment = enrollment as? AuthenticatorEnrollment else { throw InvalidAnswer() }
        return enrollment
    }

    /// Returns the challenge of a push. The allowed clock skew is in seconds.
    func parse(_ jwt: String, action: String? = nil, skew: Int = 300) throws -> PushChallenge {
        let challenge = try authenticator.parsePushNotification(
            userInfo: ["payloadVersion": "IDXv1", "challenge": jwt], actionIdentifier: action, allowedClockSkewInSeconds: skew)
        guard let challenge = challenge as? PushChallenge else { throw InvalidAnswer() }
        return challenge
    }
}

func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw InvalidAnswer() }
    return url
}

/// Returns the error of a call; `nil` if the call succeeded, or if the error has another type.
func failure<Value>(_ operation: () async throws -> Value) async -> DeviceAuthenticatorError? {
    do {
        _ = try await operation()
        return nil
    } catch {
        return error as? DeviceAuthenticatorError
    }
}

/// Approves the consent step of a challenge.
@Sendable func approving(_ step: RemediationStep) {
    (step as? RemediationStepUserConsent)?.provide(.approved)
}

/// A thread-safe list of recorded elements, in order.
final class Recorder<Value: Sendable>: Sendable {
    private let values = Locked<[Value]>([])
    var all: [Value] { values.withLock { $0 } }
    func add(_ value: Value) { values.withLock { $0.append(value) } }
}
