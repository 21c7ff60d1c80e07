import AuthFoundation
import DeviceAuthenticator
import Foundation

// Uses the device authenticator from the main actor, as an app in Swift 6 mode does.

@MainActor
final class PhoneModel {
    private(set) var enrollments: [any AuthenticatorEnrollmentProtocol] = []
    private(set) var waiting: RemediationStepUserConsent?
    private let authenticator: any DeviceAuthenticatorProtocol

    init(session: any URLSessionProtocol, folder: URL) throws {
        let config = ApplicationConfig(applicationName: "App", applicationVersion: "1.0", applicationGroupId: "group.app")
        authenticator = try DeviceAuthenticatorBuilder(applicationConfig: config)
            .storageDirectory(folder).urlSession(session).clock(DeviceClock()).userVerifier(PINVerifier()).create()
    }

    func enroll(with accessToken: String, at org: URL) async throws {
        let policy = try await authenticator.downloadPolicy(
            authenticationToken: .bearer(accessToken), authenticatorConfig: DeviceAuthenticatorConfig(orgURL: org, oidcClientId: "app"))
        var parameters = EnrollmentParameters(deviceToken: .empty)
        parameters.enableUserVerification(enable: policy.userVerificationSetting == .required)
        _ = try await authenticator.enroll(
            authenticationToken: .bearer(accessToken), authenticatorConfig: DeviceAuthenticatorConfig(orgURL: org, oidcClientId: "app"),
            enrollmentParameters: parameters)
        enrollments = authenticator.allEnrollments()
    }

    func becomeActive() {
        for enrollment in authenticator.allEnrollments() {
            enrollment.retrieveMaintenanceToken { result in
                guard case .success(let credential) = result else { return }
                enrollment.retrievePushChallenges(authenticationToken: .bearer(credential.access_token)) { result in
                    Task { @MainActor in for challenge in (try? result.get()) ?? [] { self.resolve(challenge) } }
                }
            }
        }
    }

    func receive(_ userInfo: [AnyHashable: Any]) {
        guard let challenge = try? authenticator.parsePushNotification(userInfo: userInfo) else { return }
        resolve(challenge)
    }

    func resolve(_ challenge: any PushChallengeProtocol) {
        challenge.resolve(
            onRemediation: { step in Task { @MainActor in self.handle(step) } },
            onCompletion: { error in
                if error?.reason == .expired || error?.reason == .alreadyAnswered { Task { @MainActor in self.waiting = nil } }
            })
    }

    private func handle(_ step: RemediationStep) {
        switch step {
        case let step as RemediationStepUserConsent: waiting = step
        case let step as RemediationStepMessage: _ = step.message
        default: step.defaultProcess()
        }
    }

    func approve(number: String?) {
        waiting?.provide(.approved, selectedNumber: number)
        waiting = nil
    }

    func deny() {
        waiting?.provide(.denied, reportSuspicious: true)
        waiting = nil
    }

    func remove(_ enrollment: any AuthenticatorEnrollmentProtocol, accessToken: String) async throws {
        do {
            try await authenticator.delete(enrollment: enrollment, authenticationToken: .bearer(accessToken))
        } catch let error as DeviceAuthenticatorError where error.reason == .notFound {
            try enrollment.deleteFromDevice()
        }
    }
}

struct PINVerifier: UserVerifier {
    func verify(_ request: UserVerificationRequest) async throws(UserVerificationFailure) -> UserVerification {
        guard request.purpose == .approve else { throw .unavailable }
        return UserVerification(method: .pin, secret: Data("1234".utf8))
    }
}
