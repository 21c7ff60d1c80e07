internal import Foundation
internal import JOSE

/// Checks codes that were sent by text, call or mail.
///
/// Made for one reading of the store: the verdict names the enrolment as it must be written, with the code used up or the wrong answer
/// counted, in the version that was read.
struct CodeVerifier: FactorVerifier {
    let environment: EngineEnvironment
    let channel: CodeChannel
    /// The person's enrolments; those of other factors do not matter.
    let enrollments: [Enrollment]
    /// What the code must have been sent for: the id of a transaction.
    let owner: String
    let now: Date

    var kind: FactorKind { channel.factor }
    var factorClass: FactorClass { .possession }
    var methods: [String] { [channel.method] }

    func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) -> FactorVerdict {
        let own = enrollments.first { $0.code?.channel == channel && $0.userID == user?.id }
        switch response {
        case .code(let typed): return judge(typed, own)
        case .confirmedLink:
            guard let own, let open = own.code?.open, open.owner == owner, open.approvedAt != nil, now < open.expiresAt else {
                return .failed
            }
            return .proved(passwordHash: nil, enrollment: own.usingUpCode)
        case .password, .answer: return .failed
        }
    }

    private func judge(_ typed: String, _ own: Enrollment?) -> FactorVerdict {
        // As much computing for nobody, and without an open code, as for somebody.
        let open = own?.code?.open
        let digits = typed.utf8.prefix(64).filter { $0 != UInt8(ascii: " ") }
        let digest = environment.digest(
            ofCode: String(decoding: digits, as: UTF8.self), enrollment: own?.id ?? "", owner: open?.owner ?? "")
        let isRight = digest.isSameSecret(as: open?.digest ?? [UInt8](repeating: 0, count: 32))
        guard let own, let open, open.owner == owner, now < open.expiresAt, own.code?.closedUntil(at: now) == nil else { return .failed }
        return isRight ? .proved(passwordHash: nil, enrollment: own.usingUpCode) : .wrong(own.countingWrongCode(at: now))
    }
}

extension Enrollment {
    /// The enrolment once its code was answered rightly: it is good no more, and messages are counted anew.
    var usingUpCode: Enrollment {
        var used = self
        used.code?.open = nil
        // The last one stays: how soon the next may follow does not depend on the answer.
        used.code?.sent = Array(code?.sent.suffix(1) ?? [])
        used.code?.wrong = []
        return used
    }

    /// The enrolment after a wrong answer.
    func countingWrongCode(at now: Date) -> Enrollment {
        var counted = self
        counted.code?.wrong = (code?.wrong ?? []).filter { $0 > now.addingTimeInterval(-CodeMethod.answeringWindow) } + [now]
        return counted
    }
}
