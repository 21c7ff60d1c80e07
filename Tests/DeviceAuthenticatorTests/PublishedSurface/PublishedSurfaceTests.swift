import DeviceAuthenticator
import Foundation
import Testing

#if canImport(UserNotifications)
import UserNotifications
#endif

/// Uses the public API as apps do. Code that is not run must compile.
@Suite("Published API of DeviceAuthenticator")
struct PublishedSurfaceTests {
    /// An app's test double of the authenticator with only the public members.
    struct OwnAuthenticator: DeviceAuthenticatorProtocol {
        func downloadPolicy(
            authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig,
            completion: @escaping @Sendable (Result<any AuthenticatorPolicyProtocol, DeviceAuthenticatorError>) -> Void
        ) { completion(.failure(.genericError("own"))) }
        func enroll(
            authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig, enrollmentParameters: EnrollmentParameters,
            completion: @escaping @Sendable (Result<any AuthenticatorEnrollmentProtocol, DeviceAuthenticatorError>) -> Void
        ) { completion(.success(OwnEnrollment())) }
        func allEnrollments() -> [any AuthenticatorEnrollmentProtocol] { [OwnEnrollment()] }
        func delete(
            enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken,
            completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
        ) { completion(.genericError("own")) }
        #if canImport(UserNotifications)
        func parsePushNotification(_ notification: UNNotification, allowedClockSkewInSeconds: Int) throws -> any PushChallengeProtocol {
            throw DeviceAuthenticatorError.pushNotRecognized
        }
        func parsePushNotificationResponse(_ response: UNNotificationResponse, allowedClockSkewInSeconds: Int) throws
            -> any PushChallengeProtocol
        { throw DeviceAuthenticatorError.pushNotRecognized }
        #endif
    }

    @Test("An app's type that implements only the callback functions also gets their async variants")
    func ownTypes() async throws {
        let own: any DeviceAuthenticatorProtocol = OwnAuthenticator()
        let config = AuthenticatorConfig(orgURL: try #require(URL(string: "atko.okta.com")), oidcClientId: "client_id")
        let parameters = EnrollmentParameters(deviceToken: Data([1]), enableUserVerification: false)
        let enrollment = try await own.enroll(
            authenticationToken: .bearer("t"), authenticatorConfig: config, enrollmentParameters: parameters)
        #expect(enrollment.enrollmentId == "own")
        #expect(try own.enrollments().count == 1)
        try await enrollment.updateDeviceToken(Data(), authenticationToken: .bearer("t"))
        try await enrollment.enableCIBATransactions(authenticationToken: .bearer("t"), enable: true)
        #expect(try await enrollment.retrievePushChallenges(authenticationToken: .bearer("t")).isEmpty)
        await #expect(throws: DeviceAuthenticatorError.genericError("")) {
            try await own.downloadPolicy(authenticationToken: .bearer("t"), authenticatorConfig: config)
        }
        await #expect(throws: DeviceAuthenticatorError.genericError("")) {
            try await own.delete(enrollment: enrollment, authenticationToken: .bearer("t"))
        }
        await #expect(throws: DeviceAuthenticatorError.genericError("")) {
            try await enrollment.setUserVerification(authenticationToken: .bearer("t"), enable: true)
        }
        await #expect(throws: DeviceAuthenticatorError.genericError("")) { try await enrollment.retrieveMaintenanceToken() }
        #expect(throws: DeviceAuthenticatorError.pushNotRecognized) { try own.parsePushNotification(userInfo: [:]) }
    }

    final class OwnLogger: DeviceAuthenticatorLogger {
        func debug(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
        func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
        func warning(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        }
        func uiEvent(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        }
        func error(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
    }

    /// Compiled but not run.
    func create() throws {
        let config = ApplicationConfig(
            applicationName: "a", applicationVersion: "1", applicationGroupId: "g", keychainGroupId: nil, applicationInstallationId: nil)
        let authenticator = try DeviceAuthenticatorBuilder(applicationConfig: config).addLogger(OwnLogger()).create()
        var parameters = EnrollmentParameters(deviceToken: DeviceToken.tokenString("ab"))
        parameters.enableUserVerification(enable: true)
        parameters.enableUserVerification(enable: true, userVerificationSettings: .default)
        parameters.enableUserVerification(
            enable: true, userVerificationSettings: BiometricEnrollmentSettings(accessControlFlags: [.biometryAny, .or, .devicePasscode]))
        parameters.enableCIBATransactions(enable: true)
        for enrollment in authenticator.allEnrollments() {
            enrollment.retrieveMaintenanceToken { _ in }
            enrollment.retrieveMaintenanceToken(scopes: ["okta.myAccount.appAuthenticator.maintenance.read"]) { _ in }
            enrollment.delete(enrollment: enrollment, authenticationToken: AuthToken.bearer("t")) { _ in }
            authenticator.delete(enrollment: enrollment, authenticationToken: .bearer("t")) { _ in }
            enrollment.retrievePushChallenges(authenticationToken: .bearer("t"), allowedClockSkewInSeconds: 60) { _ in }
        }
    }

    /// Compiled but not run.
    func resolve(_ challenge: any PushChallengeProtocol) async throws {
        challenge.resolve(onRemediationStep: { self.handle($0) }) { error in _ = error?.errorCode }
        challenge.resolve(onRemediation: { self.handle($0) }, onCompletion: { _ in })
        try await challenge.resolve { self.handle($0) }
        try await challenge.resolve(onRemediationStep: { self.handle($0) })
        var challenge = challenge
        challenge.userResponse = .userApproved
        _ = (challenge as? any CIBAChallengeProtocol)?.cibaBindingMessage
    }

    @Sendable func handle(_ step: RemediationStep) {
        switch step {
        case let step as RemediationStepUserConsent:
            step.provide(.approved)
            step.provide(.approved, selectedNumber: "42")
            step.provide(.denied, reportSuspicious: true)
        case let step as RemediationStepMessage:
            switch step.reasonType {
            case .userVerificationKeyNotEnrolled, .userVerificationCancelledByUser, .userVerificationKeyCorruptedOrMissing,
                .userVerificationFailed:
                break
            }
        default: step.defaultProcess()
        }
    }

    /// Switches over all public cases without a default, as an app does. The function is compiled but not run.
    func everyError(_ error: DeviceAuthenticatorError) -> String {
        switch error {
        case .serverAPIError(let result, let model): "\(result.response == nil) \(model?.errorCode?.rawValue ?? "")"
        case .networkError(let error): error.localizedDescription
        case .securityError(let error):
            switch error {
            case .failedToSignPayload(let text), .jwkError(let text), .jwtError(let text): text
            case .keyGenFailed(let status, let text): "\(status) \(text)"
            case .keyCorrupted(let error), .localAuthenticationCancelled(let error), .localAuthenticationPasscodeNotSet(let error),
                .localAuthenticationFailed(let error):
                error.localizedDescription
            case .generalEncryptionError(let status, let error, let text): "\(status) \(String(describing: error)) \(text)"
            case .dataEncryptionDecryptionError(let error): String(describing: error)
            }
        case .storageError(let error):
            switch error {
            case .itemNotFound, .missingAppGroupEntitlement: error.errorDescription
            case .storageMigrationError(let text), .sqliteError(let text), .generalStorageError(let text): text
            }
        case .genericError(let text), .internalError(let text): text
        case .accountNotFoundForChallenge(let challenge): challenge.transactionId
        case .pushNotRecognized, .noVerificationMethodsToEnroll: ""
        }
    }
}
