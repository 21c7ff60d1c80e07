import AuthFoundation
import Foundation
import OktaAuthSdk

/// The choices that the command offers in each state: the actions that the links in the server's response allow.
@MainActor
enum ClassicChoices {
    static func choices(in status: OktaAuthStatus, of session: ClassicSession) async -> [ClassicChoice] {
        var choices = await own(status, session)
        if status.canReturn() {
            choices.append(ClassicChoice(key: "b", title: "Back") { try await status.returnToPreviousStatus() })
        }
        if status.canCancel() {
            choices.append(
                ClassicChoice(key: "c", title: "Cancel") {
                    try await status.cancelTransaction()
                    session.isCancelled = true
                    throw CommandFailure("The sign-in was cancelled.")
                })
        }
        return choices
    }

    private static func own(_ status: OktaAuthStatus, _ session: ClassicSession) async -> [ClassicChoice] {
        switch status {
        case let status as OktaAuthStatusPasswordWarning:
            return (status.canChange() ? [change { try await status.changePassword(oldPassword: $0, newPassword: $1) }] : [])
                + (status.canSkip() ? [skip("Keep the password for now") { try await status.skipPasswordChange() }] : [])
        case let status as OktaAuthStatusPasswordExpired:
            return status.canChange() ? [change { try await status.changePassword(oldPassword: $0, newPassword: $1) }] : []
        case let status as OktaAuthStatusPasswordReset:
            guard status.canReset() else { return [] }
            return [
                ClassicChoice(title: "Set a new password") {
                    try await status.resetPassword(newPassword: try await ClassicQuestion.newPassword())
                }
            ]
        case let status as OktaAuthStatusLockedOut:
            guard status.canUnlock() else { return [] }
            return RecoveryWay.allCases.map { way in
                ClassicChoice(title: "Unlock by \(way.rawValue)") {
                    try await status.unlock(username: session.username, factorType: way.factors)
                }
            }
        case let status as OktaAuthStatusRecovery: return recovery(status)
        case let status as OktaAuthStatusRecoveryChallenge: return recoveryChallenge(status)
        case let status as OktaAuthStatusFactorEnroll:
            return status.availableFactors.filter { status.canEnrollFactor(factor: $0) }.map(ClassicFactors.enrollment)
                + (status.canSkipEnrollment() ? [skip("Skip") { try await status.skipEnrollment() }] : [])
        case let status as OktaAuthStatusFactorEnrollActivate:
            return await ClassicFactors.activation(status, organization: session.organization, drawing: session.drawing)
        case let status as OktaAuthStatusFactorRequired:
            return status.availableFactors.filter { $0.canSelect() }.map { factor in
                ClassicChoice(title: ClassicText.name(of: factor)) { try await status.selectFactor(factor) }
            }
        case let status as OktaAuthStatusFactorChallenge: return ClassicFactors.challenge(status)
        default: return []
        }
    }

    private static func recovery(_ status: OktaAuthStatusRecovery) -> [ClassicChoice] {
        guard status.canRecover() else { return [] }
        if let token = status.recoveryToken, status.stateToken.isEmpty {
            return [ClassicChoice(title: "Continue") { try await status.recoverWithToken(token) }]
        }
        return [
            ClassicChoice(title: "Answer the security question") {
                try await status.recoverWithAnswer(
                    try await ClassicQuestion.ask("\(status.recoveryQuestion ?? "Your answer"): ", isSecret: true))
            }
        ]
    }

    private static func recoveryChallenge(_ status: OktaAuthStatusRecoveryChallenge) -> [ClassicChoice] {
        (status.canVerify()
            ? [
                ClassicChoice(title: "Enter the code") {
                    try await status.verifyFactor(passCode: try await ClassicQuestion.ask("Code: "))
                }
            ] : [])
            + (status.canResend() ? [ClassicChoice(key: "r", title: "Resend") { try await status.resendFactor() }] : [])
    }

    private static func change(_ send: @escaping (String, String) async throws -> OktaAuthStatus) -> ClassicChoice {
        ClassicChoice(title: "Change the password") {
            let old = try await PasswordPrompt.ask("Password so far: ")
            return try await send(old, try await ClassicQuestion.newPassword())
        }
    }

    private static func skip(_ title: String, _ send: @escaping () async throws -> OktaAuthStatus) -> ClassicChoice {
        ClassicChoice(key: "s", title: title, action: send)
    }
}

/// Asks the user for the input that a state requires.
enum ClassicQuestion {
    /// The error for an invalid input. The command then shows the state again.
    struct Mistyped: Error {
        let text: String
    }

    /// Asks for an input, and returns it without spaces at its ends. Throws ``CommandFailure`` for an empty input, and `CancellationError`
    /// after Ctrl-C.
    static func ask(_ prompt: String, isSecret: Bool = false) async throws -> String {
        let answer = try await TerminalInput.line("\(prompt)", isSecret: isSecret)
        guard let answer = answer?.trimmingCharacters(in: .whitespaces), !answer.isEmpty else {
            throw CommandFailure("The sign-in was cancelled: there was no input for “\(prompt)”.")
        }
        return answer
    }

    /// Asks for a new password; in a terminal, twice, because the user cannot see it. Throws ``Mistyped`` if the two inputs differ.
    static func newPassword() async throws -> String {
        let password = try await PasswordPrompt.ask("New password: ")
        guard TerminalInput.isInteractive else { return password }
        guard try await PasswordPrompt.ask("New password again: ") == password else {
            throw Mistyped(text: "The two new passwords differ.")
        }
        return password
    }
}
