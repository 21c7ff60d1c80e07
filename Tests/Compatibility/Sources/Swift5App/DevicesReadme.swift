import DeviceAuthenticator
import Foundation

// Uses the forms of Swift 5 app code: callbacks, no `any`, closures that capture classes which are not Sendable.

final class DevicesReadme {
    var lastError: Error?
    let authenticator: DeviceAuthenticatorProtocol

    init() throws {
        let config = ApplicationConfig(applicationName: "App", applicationVersion: "1.0", applicationGroupId: "group.app")
        config.apsEnvironment = .development
        config.pushSettings.approveActionTitle = "Approve"
        authenticator = try DeviceAuthenticatorBuilder(applicationConfig: config).create()
    }

    func enroll(accessToken: String, deviceToken: Data) {
        authenticator.enroll(
            authenticationToken: AuthToken.bearer(accessToken),
            authenticatorConfig: AuthenticatorConfig(orgURL: URL(string: "atko.okta.com")!, oidcClientId: "client_id"),
            enrollmentParameters: EnrollmentParameters(deviceToken: deviceToken, enableUserVerification: false)
        ) { result in
            switch result {
            case .success(let enrollment): self.update(enrollment, deviceToken)
            case .failure(let error): self.lastError = error
            }
        }
    }

    func update(_ enrollment: AuthenticatorEnrollmentProtocol, _ deviceToken: Data) {
        enrollment.updateDeviceToken(deviceToken, authenticationToken: AuthToken.bearer("token")) { self.lastError = $0 }
        enrollment.setUserVerification(authenticationToken: AuthToken.bearer("token"), enable: true) { self.lastError = $0 }
        enrollment.enableCIBATransactions(authenticationToken: AuthToken.bearer("token"), enable: true) { self.lastError = $0 }
        enrollment.delete(enrollment: enrollment, authenticationToken: AuthToken.bearer("token")) { self.lastError = $0 }
    }

    func pull() {
        authenticator.allEnrollments().forEach { enrollment in
            enrollment.retrieveMaintenanceToken { result in
                guard case .success(let credential) = result else { return }
                enrollment.retrievePushChallenges(authenticationToken: AuthToken.bearer(credential.access_token)) { result in
                    guard case .success(let challenges) = result else { return }
                    challenges.forEach { challenge in
                        challenge.resolve(onRemediationStep: { step in self.handle(step) }) { error in self.lastError = error }
                    }
                }
            }
        }
    }

    func handle(_ remediationStep: RemediationStep) {
        switch remediationStep {
        case let consentStep as RemediationStepUserConsent: consentStep.provide(.approved)
        case let messageStep as RemediationStepMessage: lastError = messageStep.error
        default: remediationStep.defaultProcess()
        }
    }
}
