internal import Foundation
internal import IdentityCore

/// The change of the password during a sign-in, if the policy requires it.
extension HostedState {
    /// Stores a new password, which the user typed twice, and continues the sign-in in the same commit.
    func changePassword(_ password: String, repeated: String, _ reading: Reading<HostedStep.Verdict>) -> HostedStep {
        // A form that is sent again changes nothing.
        guard let user, let subject, passwordDue != nil else { return unchanged }
        // Compared like stored passwords: keyboards compose accents differently.
        guard password.precomposedStringWithCanonicalMapping == repeated.precomposedStringWithCanonicalMapping else {
            return attempt(reading) { _ in try tell(.passwordsDiffer, nil) }
        }
        let check = engine.newPasswordCheck(password, of: user.value, from: subject.origin, policy: snapshot.passwordPolicy, now: now)
        return attempt(reading, check: check.map { .password(try await $0()) }) { verdict in
            switch verdict {
            case .password(.good(let hash)):
                var (next, outcome, effects) = transaction.step(.passwordChanged(hash: hash, subject), now: now)
                next.hosted?.notice = nil
                next.hosted?.violatedRules = nil
                next.record(outcome)
                return try moving(to: next, Writes(effects, of: next, user: user))
            case .password(.refused(let rules)): return try tell(nil, rules)
            default: return Plan(onward)
            }
        }
    }

    /// Stores the violated rules and the notice for the page.
    private func tell(_ notice: HostedSignIn.Notice?, _ violated: [PasswordRule]?) throws -> Plan<HostedAnswer> {
        var next = transaction
        next.hosted?.notice = notice
        next.hosted?.violatedRules = violated
        return try next == transaction ? Plan(onward) : moving(to: next)
    }

    /// The reason why the password must be changed; `nil` if the user can keep it.
    var passwordDue: PasswordStanding? {
        guard transaction.end == nil, !transaction.proofs.isEmpty, let subject,
            case .newPassword(let standing) = transaction.requirement(for: subject)
        else { return nil }
        return standing
    }
}
