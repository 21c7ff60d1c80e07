internal import Foundation
internal import IdentityCore
internal import JOSE

extension RecoveryRefusal {
    /// What the page tells of it; `nil` if the next page shows enough.
    var notice: RecoveryPage.Notice? {
        switch self {
        case .wrongCode: .wrongCode
        case .wrongAnswer: .wrongAnswer
        case .paced(.tooSoon): .sentJustNow
        case .paced, .tooManyAttempts: .tooManyAttempts
        case .busy: .busy
        case .notEnabled, .over, .otherStage, .noChannel, .unacceptablePassword, .unknownUser, .closedAccount: nil
        }
    }

    /// The end of the wait that the notice asks for; `nil` for none.
    var until: Date? {
        switch self {
        case .paced(let refusal): refusal.until
        case .tooManyAttempts(let status, _): status.reset
        case .busy(let until): until
        default: nil
        }
    }
}

/// What a person does on the pages of a recovery.
package enum RecoveryAction: Sendable {
    /// Gives the code that was sent.
    case code(String)
    /// Asks for another.
    case resend
    /// Answers their security question.
    case answer(String)
    /// Gives another password, twice.
    case password(String, repeated: String)
}

extension RecoveryAction: Redacted {
    /// What kind of step it is; never what was typed.
    package var description: String {
        switch self {
        case .code: "code"
        case .resend: "resend"
        case .answer: "answer"
        case .password: "password"
        }
    }
}

extension ClassicPolicy {
    /// Whether people get back into their accounts by themselves; that they unlock them, where `isUnlock`.
    func allowsRecovery(isUnlock: Bool) -> Bool { !recovery.isEmpty && (!isUnlock || unlocksBySelfService) }
}
