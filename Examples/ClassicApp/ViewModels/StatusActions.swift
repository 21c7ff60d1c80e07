internal import OktaAuthSdk
internal import Wording

/// The actions of each state, as the status's `can…` functions allow them.
@MainActor
enum StatusActions {
    static func actions(in status: OktaAuthStatus, username: String) -> [ClassicAction] {
        var actions = own(status, username)
        if status.canReturn() {
            actions.append(ClassicAction(words("Back")) { _ in try await status.returnToPreviousStatus() })
        }
        if status.canCancel() {
            actions.append(
                ClassicAction(words("Cancel"), isCancel: true, fields: { [] }) { _ in
                    try await status.cancelTransaction()
                    return nil
                })
        }
        return actions.distinct
    }

    private static func own(_ status: OktaAuthStatus, _ username: String) -> [ClassicAction] {
        switch status {
        case let status as OktaAuthStatusPasswordWarning:
            return (status.canChange() ? [change { try await status.changePassword(oldPassword: $0, newPassword: $1) }] : [])
                + (status.canSkip()
                    ? [ClassicAction(words("Keep the password for now")) { _ in try await status.skipPasswordChange() }] : [])
        case let status as OktaAuthStatusPasswordExpired:
            return status.canChange() ? [change { try await status.changePassword(oldPassword: $0, newPassword: $1) }] : []
        case let status as OktaAuthStatusPasswordReset:
            guard status.canReset() else { return [] }
            return [
                ClassicAction(words("Set a new password"), .newPassword, .newPasswordAgain) {
                    try await status.resetPassword(newPassword: try $0.newPassword())
                }
            ]
        case let status as OktaAuthStatusLockedOut:
            guard status.canUnlock() else { return [] }
            return [
                ClassicAction(words("Unlock the account"), .recoveryWay) {
                    try await status.unlock(username: username, factorType: $0.recoveryWay)
                }
            ]
        case let status as OktaAuthStatusRecovery: return recovery(status)
        case let status as OktaAuthStatusRecoveryChallenge: return recoveryChallenge(status)
        case let status as OktaAuthStatusFactorEnroll:
            return status.availableFactors.filter { status.canEnrollFactor(factor: $0) }.map(FactorActions.enrollment)
                + (status.canSkipEnrollment()
                    ? [ClassicAction(words("Skip")) { _ in try await status.skipEnrollment() }] : [])
        case let status as OktaAuthStatusFactorEnrollActivate: return FactorActions.activation(status)
        case let status as OktaAuthStatusFactorRequired: return required(status)
        case let status as OktaAuthStatusFactorChallenge: return FactorActions.challenge(status)
        default: return []
        }
    }

    private static func required(_ status: OktaAuthStatusFactorRequired) -> [ClassicAction] {
        var actions = status.availableFactors.filter { $0.canSelect() }.map { factor in
            ClassicAction(StatusText.name(of: factor)) { _ in try await status.selectFactor(factor) }
        }
        if status.canRememberDevice {
            let isOn = status.rememberDevice == true
            actions.append(
                ClassicAction(isOn ? words("Don't remember this device") : words("Remember this device")) { _ in
                    status.rememberDevice = !isOn
                    return status
                })
        }
        return actions
    }

    private static func recovery(_ status: OktaAuthStatusRecovery) -> [ClassicAction] {
        guard status.canRecover() else { return [] }
        if status.isBegunElsewhere, let token = status.recoveryToken {
            return [ClassicAction(words("Continue")) { _ in try await status.recoverWithToken(token) }]
        }
        return [
            ClassicAction(words("Answer your question"), .answer(status.recoveryQuestion)) {
                try await status.recoverWithAnswer($0.text("answer"))
            }
        ]
    }

    private static func recoveryChallenge(_ status: OktaAuthStatusRecoveryChallenge) -> [ClassicAction] {
        (status.canVerify()
            ? [
                ClassicAction(words("Enter the code you received"), .code) { try await status.verifyFactor(passCode: $0.text("code")) }
            ] : [])
            + (status.canResend() ? [.resend { try await status.resendFactor() }] : [])
    }

    private static func change(_ send: @escaping @MainActor (String, String) async throws -> OktaAuthStatus) -> ClassicAction {
        ClassicAction(words("Change the password"), .oldPassword, .newPassword, .newPasswordAgain) {
            try await send($0.text("old"), try $0.newPassword())
        }
    }
}

extension OktaAuthStatusRecovery {
    /// Whether a back end began this recovery. The user then continues with the recovery token.
    @MainActor var isBegunElsewhere: Bool { recoveryToken != nil && stateToken.isEmpty }
}
