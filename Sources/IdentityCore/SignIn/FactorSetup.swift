package import Foundation
package import Store

extension SignInTransaction {
    /// The change that closes the ticket of the phone that is being enrolled; empty if there is none.
    package var closingPhone: [Change] { phone.map { [.close(.enrollmentTicket, digest: TicketDigest(bytes: $0.digest))] } ?? [] }

    /// Whether the user may enroll a factor: the sign-in requires or offers it, no proof comes from a session, and the last proof is
    /// recent.
    package func allowsEnrollment(of subject: Subject, now: Date) -> Bool {
        guard end == nil, inherited == 0, let last = proofs.last,
            Enrollment.isFresh(last.time, at: now)
        else { return false }
        return requirement(for: subject).isEnrollment
    }

    /// The changes that close the tickets of the challenge.
    package var closingChallenge: [Change] {
        (challenge?.targets ?? []).map { .close(.pushChallenge, digest: TicketDigest(of: $0.id)) }
            + (challengeTicket.map { [.close(.oobCode, digest: TicketDigest(bytes: $0))] } ?? [])
    }
}

/// A second factor that a user can enroll on a page.
package enum HostedEnrollment: Sendable, Equatable {
    /// A passkey or security key.
    case passkey
    /// A phone that receives pushes in the named app.
    case phone(authenticatorID: String, name: String)
    /// An authenticator app.
    case app
    /// A phone number or mailbox that receives codes.
    case code(CodeChannel)
}

extension OrgSnapshot {
    /// Returns the factors that the user of a sign-in can enroll, in the order of the page: only a passkey if nothing else meets the
    /// requirements.
    package func enrollable(for subject: SignInTransaction.Subject, in transaction: SignInTransaction) -> [HostedEnrollment] {
        let all = enrollable(for: subject.user)
        return transaction.needsPasskey(subject) ? all.filter { $0 == .passkey } : all
    }

    /// Returns the factors that a user without a second factor can enroll, in the order of the page.
    package func enrollable(for user: User) -> [HostedEnrollment] {
        let passkeys: [HostedEnrollment] = pagePasskeys == nil ? [] : [.passkey]
        let phones = phoneAuthenticators(for: user).map { HostedEnrollment.phone(authenticatorID: $0.id, name: $0.name) }
        let policy = organization.classic
        let apps: [HostedEnrollment] = policy.map { $0.enrolling(.totp) != .notAllowed } ?? true ? [.app] : []
        let codes: [HostedEnrollment] = CodeChannel.allCases.filter { channel in
            guard let policy, let factor = ClassicPolicy.Factor.allCases.first(where: { $0.channel == channel }) else { return false }
            return policy.enrolling(factor) != .notAllowed && (channel != .email || user.mailAddress != nil)
        }.map { .code($0) }
        return passkeys + phones + apps + codes
    }
}
