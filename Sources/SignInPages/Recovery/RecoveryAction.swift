internal import Foundation
internal import IdentityCore
internal import JOSE

extension RecoveryRefusal {
    /// The notice for the page; `nil` if the next page shows enough.
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

/// The user's action on a page of a recovery.
package enum RecoveryAction: Sendable {
    case code(String)
    case resend
    case answer(String)
    case password(String, repeated: String)
}

extension RecoveryAction: Redacted {
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
    /// Whether users can recover their accounts themselves or, with `isUnlock`, unlock them.
    func allowsRecovery(isUnlock: Bool) -> Bool { !recovery.isEmpty && (!isUnlock || unlocksBySelfService) }
}
