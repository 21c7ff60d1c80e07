internal import Foundation
internal import IdentityCore

/// The repetition of the password after the response to the first proof was lost: the browser sends the password again with the old
/// secret. An attacker who planted that secret and knows the password can do the same. So the server accepts the repeated password only
/// while nothing else was proved. After a further step, only the browser with the new secret continues. A wrong password is counted as
/// usual and does not change the sign-in.
extension HostedState {
    /// Returns a step that accepts the password again.
    func reproof(_ action: HostedAction, _ reading: Reading<HostedStep.Verdict>) throws -> HostedStep {
        guard case .password(_, let password) = action, isPasswordAlone, let user, let subject else { throw EarlyAnswer(.otherBrowser) }
        let verifier = PasswordVerifier(environment: engine.environment, origin: subject.origin)
        let check = Check(.password(password), of: user.value, enrollments: [], policy: snapshot.passwordPolicy, by: verifier)
        // Counted again even if an earlier read of this request counted it: that read may have been for another user name.
        return HostedStep(check: counted(check.map { .factor(try await $0()) }, nil, by: countAttempt)) { verdict in
            switch verdict {
            case .limited(let status): throw EarlyAnswer(HostedAnswer(.refused(HostedRefusal(tooMany: status))))
            case .busy: throw EarlyAnswer(.tooManyRequests)
            case .factor(let verdict): try reproved(verdict, by: verifier, user, subject)
            case .admitted, .password, .registration, .hashes, nil: throw EarlyAnswer(.otherBrowser)
            }
        }
    }

    private func reproved(
        _ verdict: FactorVerdict, by verifier: PasswordVerifier, _ user: StoredUser, _ subject: SignInTransaction.Subject
    ) throws -> Plan<HostedAnswer> {
        // Applies the rules and counters of a first password, on a sign-in without a proof.
        var unproved = transaction
        (unproved.proofs, unproved.challenge, unproved.end) = ([], nil, nil)
        let (next, _, effects) = unproved.step(
            .judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict, subject), now: now)
        let writes = try Writes(effects, of: next, user: user)
        guard !next.proofs.isEmpty else { return Plan(HostedAnswer(.refused(HostedRefusal(.otherBrowser))), writes) }
        var bound = transaction
        // While a second factor is due, only the latest browser continues, so that an attacker cannot wait for the victim's second factor.
        if bound.end == nil, let start = bound.hosted?.browser.unproved {
            // The latest browser is the one whose request arrived last. After a double click, a browser discards the response to its first
            // request. If the check of the first request ends last, it must not replace the secret that the browser got.
            guard transaction.proofs.allSatisfy({ now >= $0.time }) else { return Plan(onward, writes) }
            bound.hosted?.browser = start
            bound.proofs[0].time = now
        }
        var answer = onward
        answer.cookies.signIn = try engine.bind(&bound)
        return try moving(to: bound, writes, answer: answer)
    }

    /// Whether a typed password is the only proof of the sign-in, and no code was issued yet. An issued code or a remembered device comes
    /// with a session, which may contain proofs of earlier sign-ins.
    private var isPasswordAlone: Bool {
        guard transaction.end == nil || transaction.end == .authenticated, transaction.proofs.count == 1,
            transaction.proofs.first?.factor == .password, transaction.inherited == 0, transaction.challenge == nil
        else { return false }
        return hosted.awaited == nil && transaction.phone == nil && authorization.code == nil && transaction.sessionID == nil
    }
}
