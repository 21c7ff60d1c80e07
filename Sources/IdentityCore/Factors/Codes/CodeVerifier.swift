package import Foundation
internal import JOSE
package import Store

/// Checks codes that were sent by text, call or mail. A verifier belongs to one read. Its verdict contains the enrollment to write, with
/// the version that was read: the code is consumed, or the wrong answer is counted.
package struct CodeVerifier: FactorVerifier {
    package let environment: EngineEnvironment
    package let channel: CodeChannel
    /// The user's enrollments; those of other factors are ignored.
    package let enrollments: [Enrollment]
    /// The id of the transaction for which the code must have been sent.
    package let owner: String
    package let now: Date
    /// The occasion for which the code was sent.
    package var occasion = SentCodeMethod.Occasion.known

    package init(
        environment: EngineEnvironment, channel: CodeChannel, enrollments: [Enrollment], owner: String, now: Date,
        occasion: SentCodeMethod.Occasion = .known
    ) {
        (self.environment, self.channel, self.enrollments, self.owner, self.now) = (environment, channel, enrollments, owner, now)
        self.occasion = occasion
    }

    package var kind: FactorKind { channel.factor }
    package var factorClass: FactorClass { .possession }
    package var methods: [String] { [channel.method] }

    package func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) -> FactorVerdict {
        let own = enrollments.first { $0.sentCode?.channel == channel && $0.userID == user?.id }
        switch response {
        case .code(let typed): return judge(typed, own)
        case .confirmedLink:
            guard let own, let open = own.sentCode?[occasion].open, open.owner == owner, open.approvedAt != nil, now < open.expiresAt else {
                return .failed
            }
            return .proved(passwordHash: nil, enrollment: own.usingUpCode(of: occasion))
        case .password, .answer, .assertion: return .failed
        }
    }

    private func judge(_ typed: String, _ own: Enrollment?) -> FactorVerdict {
        // Does the same work if the user is unknown or has no open code.
        let open = own?.sentCode?[occasion].open
        let digits = typed.utf8.prefix(64).filter { $0 != UInt8(ascii: " ") }
        let isRight = environment.isDigest(
            open?.digest ?? [UInt8](repeating: 0, count: 32), ofCode: String(decoding: digits, as: UTF8.self), enrollment: own?.id ?? "",
            owner: open?.owner ?? "")
        guard let own, let open, open.owner == owner, now < open.expiresAt, own.sentCode?.closedUntil(at: now, for: occasion) == nil else {
            return .failed
        }
        return isRight
            ? .proved(passwordHash: nil, enrollment: own.usingUpCode(of: occasion)) : .wrong(own.countingWrongCode(of: occasion, at: now))
    }
}

extension Enrollment {
    /// Returns the enrollment after a correct answer: code and link are consumed, and the counts of messages and wrong answers are reset.
    func usingUpCode(of occasion: SentCodeMethod.Occasion) -> Enrollment {
        var used = self
        used.spentLink = sentCode?[occasion].open?.link
        // The time of the last message stays, so that the pause before the next one does not depend on the answer.
        used.sentCode?[occasion] = SentCodeMethod.Lane(sent: Array(sentCode?[occasion].sent.suffix(1) ?? []))
        return used
    }

    /// Returns the enrollment after a wrong answer.
    func countingWrongCode(of occasion: SentCodeMethod.Occasion, at now: Date) -> Enrollment {
        var counted = self
        let window = occasion == .anybody ? SentCodeMethod.recoveryWindow : SentCodeMethod.answeringWindow
        let wrong = (sentCode?[occasion].wrong ?? []).filter { $0 > now.addingTimeInterval(-window) }
        counted.sentCode?[occasion].wrong = wrong + [now]
        return counted
    }

    /// Returns the changes that write the enrollment after a proof and close the link of a consumed code.
    package func changes() throws -> [Change] {
        let closing = spentLink.map { [Change.close(.mailLink, digest: TicketDigest(bytes: $0))] } ?? []
        return closing + [.put(try record())]
    }
}
