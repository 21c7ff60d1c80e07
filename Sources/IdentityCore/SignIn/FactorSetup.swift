package import Foundation
package import Store

extension SignInTransaction {
    /// Closes the ticket that a page shows.
    package var closingPhone: [Change] { phone.map { [.close(.enrollmentTicket, digest: TicketDigest(bytes: $0.digest))] } ?? [] }

    /// Whether the user may set up a factor: a factor is required, they have none, and the proofs are recent proofs of this sign-in.
    package func allowsEnrollment(of subject: Subject, now: Date) -> Bool {
        guard end == nil, (hosted?.inherited ?? 0) == 0, let last = proofs.last,
            now < last.time.addingTimeInterval(Enrollment.freshness)
        else { return false }
        return requirement(for: subject).isEnrollment
    }

    /// Closes the tickets of its challenge only.
    package var closingChallenge: [Change] {
        (challenge?.targets ?? []).map { .close(.pushChallenge, digest: TicketDigest(of: $0.id)) }
            + (challengeTicket.map { [.close(.oobCode, digest: TicketDigest(bytes: $0))] } ?? [])
    }
}

/// What can be set up on a page as the second factor.
package enum HostedEnrollment: Sendable, Equatable {
    /// A phone that confirms sign-ins, by the app that is called so.
    case phone(authenticatorID: String, name: String)
    /// An app that shows codes.
    case app
    /// A telephone or a mailbox that codes are sent to.
    case code(CodeChannel)
}

extension OrgSnapshot {
    /// The factors that a user without a second factor can set up, in the order in which the page offers them.
    package func enrollable(for user: User) -> [HostedEnrollment] {
        let phones = phoneAuthenticators(for: user).map { HostedEnrollment.phone(authenticatorID: $0.id, name: $0.name) }
        let policy = organization.classic
        let apps: [HostedEnrollment] = policy.map { $0.enrolling(.totp) != .notAllowed } ?? true ? [.app] : []
        let codes: [HostedEnrollment] = CodeChannel.allCases.filter { channel in
            guard let policy, let factor = ClassicPolicy.Factor.allCases.first(where: { $0.channel == channel }) else { return false }
            return policy.enrolling(factor) != .notAllowed && (channel != .email || user.mailAddress != nil)
        }.map { .code($0) }
        return phones + apps + codes
    }
}
