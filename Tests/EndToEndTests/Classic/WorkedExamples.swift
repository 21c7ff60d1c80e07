import AuthFoundation
import Foundation
import OAuth2Auth
import OktaAuthSdk

// Copies of the documentation's examples. `WorkedExampleTests` compares them with the documentation, and runs them.

// MARK: - The module's documentation page

/// Signs a user in. `ask` shows a screen and returns the user's input.
@MainActor
func signIn(
    at organization: URL, name: String, password: String, ask: @MainActor (String) async throws -> String
) async throws -> String? {
    let start = OktaAuthStatusUnauthenticated(oktaDomain: organization)
    var status = try await start.authenticate(username: name, password: password)
    while true {
        switch status {
        case let success as OktaAuthStatusSuccess:
            return success.sessionToken
        case let expired as OktaAuthStatusPasswordExpired:
            let new = try await ask("Your password has expired. The new one:")
            status = try await expired.changePassword(oldPassword: password, newPassword: new)
        case let warning as OktaAuthStatusPasswordWarning where warning.canSkip():
            status = try await warning.skipPasswordChange()
        case let enroll as OktaAuthStatusFactorEnroll where enroll.canSkipEnrollment():
            status = try await enroll.skipEnrollment()
        case let enroll as OktaAuthStatusFactorEnroll:
            guard let app = enroll.availableFactors.first(where: { $0 is OktaFactorTotp && $0.canEnroll() }) else { return nil }
            status = try await enroll.enrollFactor(factor: app)
        case let activate as OktaAuthStatusFactorEnrollActivate:
            let secret = (activate.factor as? OktaFactorTotp)?.activation?.sharedSecret ?? ""
            status = try await activate.activateFactor(passCode: try await ask("Type \(secret) in your app. Its code:"))
        case let required as OktaAuthStatusFactorRequired:
            guard let factor = required.availableFactors.first(where: { $0.canSelect() }) else { return nil }
            status = try await required.selectFactor(factor)
        case let challenge as OktaAuthStatusFactorChallenge:
            if let push = challenge.factor as? OktaFactorPush {
                status = try await push.pollFactorResult()
                if status.factorResult == .rejected || status.factorResult == .timeout { return nil }
            } else {
                status = try await challenge.verifyFactor(passCode: try await ask("The code:"))
            }
        default:
            // Statuses for which this app has no screen.
            if status.canCancel() { try await status.cancelTransaction() }
            return nil
        }
    }
}

/// Recovers the account of a user who forgot the password.
@MainActor
func recover(at organization: URL, name: String, ask: @MainActor (String) async throws -> String) async throws -> String? {
    let start = OktaAuthStatusUnauthenticated(oktaDomain: organization)
    var status = try await start.recoverPassword(username: name, factorType: .sms)
    while true {
        switch status {
        case let challenge as OktaAuthStatusRecoveryChallenge where challenge.canVerify():
            status = try await challenge.verifyFactor(passCode: try await ask("The code:"))
        case let recovery as OktaAuthStatusRecovery:
            status = try await recovery.recoverWithAnswer(try await ask(recovery.recoveryQuestion ?? "Your answer:"))
        case let reset as OktaAuthStatusPasswordReset:
            status = try await reset.resetPassword(newPassword: try await ask("The new password:"))
        case let success as OktaAuthStatusSuccess:
            return success.sessionToken
        default:
            if status.canCancel() { try await status.cancelTransaction() }
            return nil
        }
    }
}

@MainActor
func byClosures(_ organization: URL, _ name: String, _ password: String, show: @escaping (Any) -> Void) {
    OktaAuthSdk.authenticate(
        with: organization, username: name, password: password,
        onStatusChange: { status in show(status) },
        onError: { error in show(error) })
}

@MainActor
func remember(_ start: OktaAuthStatus, _ required: OktaAuthStatusFactorRequired, _ deviceToken: String) {
    start.restApi.deviceToken = deviceToken  // OktaAPI.makeDeviceToken(), once for each installation, kept in the Keychain
    if required.canRememberDevice { required.rememberDevice = true }
}

// MARK: - The guide

@MainActor
func readMe(_ organization: URL, _ password: String, _ client: OAuth2Client, show: (Any) -> Void) async throws {
    let start = OktaAuthStatusUnauthenticated(oktaDomain: organization)  // http://localhost:8080 is the sandbox
    switch try await start.authenticate(username: "jane.doe@example.com", password: password) {
    case let success as OktaAuthStatusSuccess:
        let token = try await SessionTokenFlow(client: client).start(with: success.sessionToken ?? "")  // of OAuth2Auth
        Credential.default = try Credential.store(token)
    case let required as OktaAuthStatusFactorRequired:
        show(required.availableFactors)  // `try await required.selectFactor(factor)` continues with the user's choice
    case let status:
        show(status)  // each status has its own class, and its links are the possible steps
    }
}
