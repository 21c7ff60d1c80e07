internal import Foundation

/// Changing a password that is due (authn reference 4.3).
extension IdentityEngine {
    /// Sets a new password in place of one that has expired, or ends soon, and goes on.
    ///
    /// What was granted by the old one ends with it, and so do the person's sessions, whether the client asks for that (`revokeSessions`)
    /// or not.
    ///
    /// - Parameters:
    ///   - old: The password that they have, as it was typed.
    ///   - new: The one that they want.
    ///   - stateToken: Leads to the sign-in.
    ///   - context: When and from where it came.
    /// - Returns: Where the sign-in stands; or a refusal: `E0000014` with one cause for a wrong password or one that will not do,
    ///   `E0000079` where no password is due.
    /// - Throws: ``StoreError`` if the store failed; `CancellationError`.
    public func classicChangePassword(
        from old: String, to new: String, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        var counted = false
        return try await classicStep(stateToken, context: context) { [self] state in
            switch state.status(of: state.transaction) {
            case .passwordWarn?, .passwordExpired?: break
            case let other: throw ClassicRefusal.notAllowed(in: other?.rawValue ?? "none")
            }
            if !counted {
                counted = true
                try countClassicAttempt(state, context: context)
            }
            do {
                let verifier = PasswordVerifier(environment: environment, origin: state.subject.origin)
                let policy = state.snapshot.passwordPolicy
                guard case .proved = try await verifier.verify(.password(old), of: state.user.value, policy: policy) else {
                    let cause = "The old password is wrong. Enter the one that you signed in with."
                    return try await commit(.failed, verifier, state, wrong: .passwordKept(cause), context: context)
                }
                return try await setPassword(new, state, context: context)
            } catch is PasswordHasher.Overloaded {
                throw ClassicRefusal.busy(context)
            }
        }
    }

    /// Judges a new password, and writes it with the step that it is.
    private func setPassword(_ new: String, _ state: ClassicState, context: RequestContext) async throws -> ClassicAnswer? {
        switch try await newPasswordCheck(
            new, of: state.user.value, from: state.subject.origin, policy: state.snapshot.passwordPolicy, now: context.now
        ).judge()
        {
        case .refused(let rules): throw ClassicRefusal.passwordKept(rules.map(\.violation).joined(separator: " "))
        case .good(let hash):
            let (next, outcome, effects) = state.transaction.step(.passwordChanged(hash: hash, state.subject), now: context.now)
            return try await conclude(next, outcome, effects, state, wrong: .wrongCode, context: context)
        }
    }

    /// Counts an attempt of the person whom a sign-in is about; throws ``ClassicRefusal`` over a limit.
    func countClassicAttempt(_ state: ClassicState, context: RequestContext) throws(ClassicRefusal) {
        let attempts = countAttempt(
            login: state.user.value.login, of: state.user.value, from: state.subject.origin, snapshot: state.snapshot, context: context)
        guard attempts.isAdmitted else {
            throw ClassicRefusal.tooManyRequests(attempts, reason: "sign-in attempts for one user name or from one address")
        }
    }
}

extension ClassicRefusal {
    /// The password stays what it was.
    static func passwordKept(_ cause: String) -> ClassicRefusal {
        ClassicRefusal(
            code: "E0000014", status: 403, summary: "Update of credentials failed", causes: [cause], reason: "authn: password: \(cause)")
    }

    /// Too many passwords wait to be hashed. A limit of the moment, not of a count: zero in both headers says so.
    static func busy(_ context: RequestContext) -> ClassicRefusal {
        .tooManyRequests(
            RateLimitStatus(limit: 0, remaining: 0, reset: context.now.addingTimeInterval(1), isAdmitted: false),
            reason: "too many passwords wait to be hashed")
    }
}
