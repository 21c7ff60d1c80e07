package import Foundation
internal import JOSE
package import Store

/// Checks codes that were sent by text, call or mail.
///
/// Made for one reading of the store: the verdict names the enrolment as it must be written, with the code used up or the wrong answer
/// counted, in the version that was read.
package struct CodeVerifier: FactorVerifier {
    package let environment: EngineEnvironment
    package let channel: CodeChannel
    /// The person's enrolments; those of other factors do not matter.
    package let enrollments: [Enrollment]
    /// What the code must have been sent for: the id of a transaction.
    package let owner: String
    package let now: Date
    /// Who could ask for the code.
    package var occasion = CodeMethod.Occasion.known

    package init(
        environment: EngineEnvironment, channel: CodeChannel, enrollments: [Enrollment], owner: String, now: Date,
        occasion: CodeMethod.Occasion = .known
    ) {
        self.environment = environment
        self.channel = channel
        self.enrollments = enrollments
        self.owner = owner
        self.now = now
        self.occasion = occasion
    }

    package var kind: FactorKind { channel.factor }
    package var factorClass: FactorClass { .possession }
    package var methods: [String] { [channel.method] }

    package func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) -> FactorVerdict {
        let own = enrollments.first { $0.code?.channel == channel && $0.userID == user?.id }
        switch response {
        case .code(let typed): return judge(typed, own)
        case .confirmedLink:
            guard let own, let open = own.code?[occasion].open, open.owner == owner, open.approvedAt != nil, now < open.expiresAt else {
                return .failed
            }
            return .proved(passwordHash: nil, enrollment: own.usingUpCode(of: occasion))
        case .password, .answer: return .failed
        }
    }

    private func judge(_ typed: String, _ own: Enrollment?) -> FactorVerdict {
        // As much computing for nobody, and without an open code, as for somebody.
        let open = own?.code?[occasion].open
        let digits = typed.utf8.prefix(64).filter { $0 != UInt8(ascii: " ") }
        let digest = environment.digest(
            ofCode: String(decoding: digits, as: UTF8.self), enrollment: own?.id ?? "", owner: open?.owner ?? "")
        let isRight = digest.isSameSecret(as: open?.digest ?? [UInt8](repeating: 0, count: 32))
        guard let own, let open, open.owner == owner, now < open.expiresAt, own.code?.closedUntil(at: now, for: occasion) == nil else {
            return .failed
        }
        return isRight
            ? .proved(passwordHash: nil, enrollment: own.usingUpCode(of: occasion)) : .wrong(own.countingWrongCode(of: occasion, at: now))
    }
}

extension Enrollment {
    /// The enrolment once its code was answered rightly: it is good no more, nor its link, and messages are counted anew.
    func usingUpCode(of occasion: CodeMethod.Occasion) -> Enrollment {
        var used = self
        used.spentLink = code?[occasion].open?.link
        // The last one stays: how soon the next may follow does not depend on the answer.
        used.code?[occasion] = CodeMethod.Lane(sent: Array(code?[occasion].sent.suffix(1) ?? []))
        return used
    }

    /// The enrolment after a wrong answer.
    func countingWrongCode(of occasion: CodeMethod.Occasion, at now: Date) -> Enrollment {
        var counted = self
        let window = occasion == .anybody ? CodeMethod.recoveryWindow : CodeMethod.answeringWindow
        let wrong = (code?[occasion].wrong ?? []).filter { $0 > now.addingTimeInterval(-window) }
        counted.code?[occasion].wrong = wrong + [now]
        return counted
    }

    /// What writes the enrolment after a proof: a link whose code was used leads nowhere from then on.
    package func changes() throws -> [Change] {
        let closing = spentLink.map { [Change.close(.mailLink, digest: TicketDigest(bytes: $0))] } ?? []
        return closing + [.put(try record())]
    }
}
