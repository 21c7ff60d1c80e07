internal import Foundation
package import IdentityCore

/// The change of an expired or expiring password (Documentation/Protocol/Authn.md §4.3).
extension Engine {
    /// Replaces a password that has expired or expires soon. The user's grants and sessions always end, even if the client does not send
    /// `revokeSessions`.
    /// - Returns: The state; or a refusal: `E0000014` with one cause for a wrong old password or an unacceptable new password, `E0000079`
    ///   if no password change is due.
    package func classicChangePassword(
        from old: String, to new: String, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { [self] state, _ in
            try state.require(.passwordWarn, .passwordExpired)
            try countClassicAttempt(state)
        } check: { [self] state, _ in
            let verifier = PasswordVerifier(environment: environment, origin: state.subject.origin)
            let (user, policy) = (state.user.value, state.snapshot.passwordPolicy)
            // The verdict is `nil` for a wrong old password.
            let check = newPasswordCheck(new, of: user, from: state.subject.origin, policy: policy, now: context.now)
            return check.map { judge -> NewPassword? in
                try await verifier.verify(.password(old), of: user, policy: policy).isProved ? try await judge() : nil
            }.refusingOverload(context)
        } decide: { [self] state, _, verdict in
            switch try verdict?.get() ?? nil {
            case nil:
                let cause = "The old password is wrong. Enter the one that you signed in with."
                let verifier = PasswordVerifier(environment: environment, origin: state.subject.origin)
                return try state.answered(.failed, by: verifier, wrong: .passwordKept(cause))
            case .refused(let rules): throw ClassicRefusal.passwordKept(rules.map(\.violation).joined(separator: " "))
            case .good(let hash):
                return try state.conclude(
                    state.transaction.step(.passwordChanged(hash: hash, state.subject), now: context.now), wrong: .wrongCode)
            }
        }
    }

    /// Counts an attempt of the user, once per request; throws ``ClassicRefusal`` over a limit.
    func countClassicAttempt(_ state: ClassicState) throws(ClassicRefusal) {
        do { try countAttempt(state.base) } catch { throw ClassicRefusal(error, context: state.context) }
    }
}

extension Check {
    /// Returns this check with a refusal as its result if too many passwords wait to be hashed.
    func refusingOverload(_ context: RequestContext) -> Check<Result<Verdict, ClassicRefusal>> {
        map { judge in
            do { return .success(try await judge()) } catch is PasswordHasher.Overloaded { return .failure(.busy(context)) }
        }
    }
}

extension ClassicRefusal {
    static func passwordKept(_ cause: String) -> ClassicRefusal {
        ClassicRefusal(
            code: "E0000014", status: 403, summary: "Update of credentials failed", causes: [cause], reason: "authn: password: \(cause)")
    }

    /// Returns the refusal while too many passwords wait to be hashed. Its limit and remaining number are 0, because the limit depends on
    /// the load and not on a count.
    static func busy(_ context: RequestContext) -> ClassicRefusal {
        .tooManyRequests(
            RateLimitStatus(limit: 0, remaining: 0, reset: context.now.addingTimeInterval(1), isAdmitted: false),
            reason: "too many passwords wait to be hashed")
    }
}
