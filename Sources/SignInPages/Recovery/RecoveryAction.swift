internal import Foundation
internal import IdentityCore
internal import JOSE

extension RecoveryRefusal {
    /// The notice for the page; `nil` if the next page needs none.
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

    /// The rules that the new password violated; `nil` for every other error.
    var violatedRules: [PasswordRule]? { if case .unacceptablePassword(let rules) = self { rules } else { nil } }
}

/// The user's action on a page of a recovery.
package enum RecoveryAction: Sendable {
    case code(String)
    case resend
    case answer(String)
    case password(String, repeated: String)

    /// Returns the input of the step; `nil` if the two passwords differ. `nextSecret` replaces the browser's secret after the correct code.
    func input(nextSecret: String?) -> RecoveryInput? {
        switch self {
        case .code(let code): return .code(code, nextSecret: nextSecret)
        case .resend: return .resend
        case .answer(let answer): return .answer(answer)
        case .password(let new, let repeated):
            // Compared like stored passwords: keyboards compose accents differently.
            let isSame = new.precomposedStringWithCanonicalMapping == repeated.precomposedStringWithCanonicalMapping
            return isSame ? .password(new) : nil
        }
    }
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
