internal import Foundation

/// Setting a new password in the middle of a sign-in: for who proved one that is due.
extension IdentityEngine {
    /// Takes a new password, typed twice; the account has it in the same write as the sign-in goes on.
    ///
    /// - Returns: Whether the page can show what came of it; false if somebody else was faster.
    func changePassword(_ password: String, repeated: String, _ state: HostedState, context: RequestContext) async throws -> Bool {
        // Sent twice, or by going back: the page tells where it stands.
        guard let user = state.user, let subject = state.subject, state.passwordDue != nil else { return true }
        let attempts = countAttempt(
            login: user.value.login, of: user.value, from: state.subject?.origin ?? .unknown, snapshot: state.snapshot, context: context)
        guard attempts.isAdmitted else {
            return try await note(.tooManyAttempts, until: attempts.reset, state)
        }
        // As they are compared later: two keyboards compose accents each in its own way.
        guard password.precomposedStringWithCanonicalMapping == repeated.precomposedStringWithCanonicalMapping else {
            return try await tell(.passwordsDiffer, nil, state)
        }
        let judged: NewPassword
        do {
            judged = try await newPasswordCheck(
                password, of: user.value, from: subject.origin, policy: state.snapshot.passwordPolicy, now: context.now
            ).judge()
        } catch is PasswordHasher.Overloaded {
            return try await note(.busy, state)
        }
        switch judged {
        case .refused(let rules): return try await tell(nil, rules, state)
        case .good(let hash):
            var (next, outcome, effects) = state.transaction.step(.passwordChanged(hash: hash, subject), now: context.now)
            next.hosted?.notice = nil
            next.hosted?.violatedRules = nil
            var changes = try logEntries(effects, userID: user.value.id, of: next, context: context)
            for case .writeUser(let changed) in effects { changes.append(.put(try user.record(holding: changed))) }
            switch outcome {
            case .authenticated(let proved): next.hosted?.authentication = proved
            case .refused(let refusal): next.hosted?.refuse(refusal)
            default: break
            }
            return try await store.commit(changes + [state.stored.writing(next)]) == .committed
        }
    }

    /// Leaves word for the page: why the last new password was refused.
    private func tell(_ notice: HostedSignIn.Notice?, _ violated: [PasswordRule]?, _ state: HostedState) async throws -> Bool {
        var next = state.transaction
        next.hosted?.notice = notice
        next.hosted?.violatedRules = violated
        guard next != state.transaction else { return true }
        return try await store.commit([state.stored.writing(next)]) == .committed
    }
}

extension HostedState {
    /// What the password is due for; nil if it is not what is missing.
    var passwordDue: PasswordStanding? {
        guard transaction.end == nil, !transaction.proofs.isEmpty, let subject,
            case (_, .passwordDue(let standing), _) = transaction.proved(subject, "", [])
        else { return nil }
        return standing
    }
}
