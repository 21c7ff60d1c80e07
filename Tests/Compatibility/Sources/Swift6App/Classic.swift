import Foundation
import OktaAuthNative
import OktaAuthSdk

// Uses the classic state machine in Swift 6 mode: on the main actor, with async calls.

@MainActor
func classicSignIn(_ organization: URL, _ name: String, _ password: String, code: () async -> String) async throws -> String? {
    let start = OktaAuthStatusUnauthenticated(oktaDomain: organization)
    start.restApi.deviceToken = OktaAPI.makeDeviceToken()
    var status = try await start.authenticate(username: name, password: password)
    while true {
        switch status {
        case let success as OktaAuthStatusSuccess:
            return success.sessionToken
        case let warning as OktaAuthStatusPasswordWarning where warning.canSkip():
            status = try await warning.skipPasswordChange()
        case let required as OktaAuthStatusFactorRequired:
            required.rememberDevice = required.canRememberDevice
            guard let factor = required.availableFactors.first else { return nil }
            status = try await required.selectFactor(factor)
        case let challenge as OktaAuthStatusFactorChallenge:
            if let push = challenge.factor as? OktaFactorPush {
                status = try await push.pollFactorResult { _ = ($0 as? OktaAuthStatusFactorChallenge)?.factor }
                guard status.factorResult != .rejected else { return nil }
            } else {
                status = try await challenge.verifyFactor(passCode: await code())
            }
        default:
            try await status.cancelTransaction()
            return nil
        }
    }
}

@MainActor
func classicByClosures(_ organization: URL) {
    OktaAuthSdk.authenticate(
        with: organization, username: "ana", password: nil,
        onStatusChange: { status in
            MainActor.assertIsolated()
            status.cancel()
        },
        onError: { error in _ = error.localizedDescription })
}

@MainActor
final class ClassicModel {
    private var status: OktaAuthStatus?
    private(set) var message = ""

    func signIn(_ organization: URL) {
        OktaAuthSdk.authenticate(
            with: organization, username: "ana", password: "secret", onStatusChange: { self.status = $0 },
            onError: { self.message = $0.description })
    }

    func session(_ success: OktaAuthStatusSuccess, _ page: URL) async throws -> OktaSession {
        _ = success.sessionCookieRedirect(to: page)
        return try await success.createSession()
    }
}

final class ClassicStatus: OktaAuthStatusFactorChallenge {
    override func cancel(onSuccess: (() -> Void)? = nil, onError: ((OktaError) -> Void)? = nil) {
        super.cancel(onSuccess: onSuccess, onError: onError)
    }

    override func verifyFactor(
        passCode: String?, answerToSecurityQuestion: String?, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        super.verifyFactor(
            passCode: passCode, answerToSecurityQuestion: answerToSecurityQuestion, onStatusChange: onStatusChange, onError: onError)
    }
}

/// Uses the deprecated names that the guide of Okta's SDK shows.
@available(*, deprecated)
func classicGuideNames(_ status: OktaAuthStatus) -> Bool {
    status is OktaAuthStatuPasswordReset || status is OktaAuthUnauthenticated
}
