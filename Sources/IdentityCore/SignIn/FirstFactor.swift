package import Foundation
package import Store

extension Engine {
    /// The maximum length of a user name in bytes: longer than any login, even with decomposed accents.
    private static let longestUsername = 1_024

    /// Returns the typed user name. If it is too long, returns an empty name, which is always unknown: the comparison of names takes
    /// quadratic time in the number of combining marks.
    package static func possibleName(_ username: String) -> String { username.utf8.count <= longestUsername ? username : "" }
}

/// The account of the typed user name and the requirements of the sign-in, from one read. Until the first factor is proved, the engine does
/// the same reads, computation and writes for every name.
package struct FirstFactor: Sendable {
    package let transaction: SignInTransaction
    package let account: NamedAccount
    /// The requirements of the sign-in; `nil` for an unknown name.
    let subject: SignInTransaction.Subject?
    package let origin: RequestOrigin
    package let snapshot: OrgSnapshot
    /// Whether the next step needs the user's factors, which are read only after the first factor is proved.
    private let lacksFactors: Bool
    private let earlier: FactorVerdict?

    /// Reads the account of the typed name, for a first factor of this kind. `withEnrollments` reads the enrollments, for a factor that is
    /// checked against them. `earlier` is the verdict that followed an earlier read of the same request; `nil` for none.
    package init(
        _ username: String, by kind: FactorKind, of transaction: SignInTransaction, withEnrollments: Bool = false,
        after earlier: FactorVerdict?, view: any StoreView, snapshot: OrgSnapshot, context: RequestContext, engine: Engine
    ) throws {
        (self.transaction, self.snapshot, self.earlier) = (transaction, snapshot, earlier)
        account = try engine.namedAccount(username, withEnrollments: withEnrollments, in: view)
        origin = try view.origin(of: transaction, by: account.user?.value.id ?? account.decoy.id, snapshot: snapshot, context: context)
        guard let user = account.user?.value else {
            (subject, lacksFactors) = (nil, false)
            return
        }
        let policy = snapshot.passwordPolicy
        let isOpen =
            user.isOpen(to: origin, policy: policy, now: context.now)
            && !user.isClosed(kind, to: user.callers(from: origin), isFurther: false, policy: policy)
        guard earlier?.isProved == true, isOpen else {
            let known = SignInTransaction.Subject(unproved: user, of: transaction, from: origin, snapshot: snapshot)
            // A second read would reveal the correct password of a closed account or factor.
            (subject, lacksFactors) = (known, isOpen && transaction.asksForFactors(known?.decision))
            return
        }
        (subject, lacksFactors) = (try view.subject(user, of: transaction, snapshot: snapshot, from: context), false)
    }

    /// Whether a verdict requires another read, with the user's factors.
    package func needsMore(_ verdict: FactorVerdict) -> Bool { verdict.isProved && lacksFactors }

    package func check(_ response: FactorResponse, by verifier: some FactorVerifier) -> Check<FactorVerdict> {
        let user = account.user?.value
        // After a conflict, keeps the value of the first check, so that a sign-out in between is detected.
        let ended = if case .proved(_, _, let ended)? = earlier { ended } else { user?.sessionsEndedAt }
        return Check<FactorVerdict>(
            response, of: user, enrollments: account.enrollments, policy: snapshot.passwordPolicy, by: verifier
        ).map { judge in
            let verdict = try await judge()
            guard case .proved(let hash, let enrollment, _) = verdict else { return verdict }
            return .proved(passwordHash: hash, enrollment: enrollment, sessionsEndedAt: ended)
        }
    }

    /// Whether the account's sessions were ended after the factor was checked.
    private func isOvertaken(_ verdict: FactorVerdict) -> Bool {
        guard case .proved(_, _, let ended) = verdict else { return false }
        return ended != account.user?.value.sessionsEndedAt
    }

    /// Takes the step and returns it with its writes. A wrong answer always writes one account record.
    package func step(
        _ verdict: FactorVerdict, by verifier: some FactorVerifier, now: Date
    ) throws -> (SignInTransaction, SignInTransaction.Outcome, Writes, user: User?) {
        // A sign-out everywhere during the check also ends this sign-in.
        let (next, outcome, effects) =
            isOvertaken(verdict)
            ? transaction.wrong("signed out everywhere since", "user.authentication.\(verifier.kind.rawValue)", [])
            : transaction.step(.judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict, subject), now: now)
        // On a page, a wrong answer does not bind the sign-in to the user.
        var writes = try Writes(effects, of: next, user: account.user, userID: account.user?.value.id)
        if !effects.writesUser {
            switch outcome {
            case .refused, .tryAgain: writes += [try account.idleWrite()]
            // The verdict may be seconds old: the commit must fail if the account was locked, deactivated or got a new password since.
            default: if let user = account.user { writes += [user.unchanged] }
            }
        }
        return (next, outcome, writes, account.user.map { effects.user(after: $0.value) })
    }
}

extension Check<FactorVerdict> {
    /// Creates the check of an answer. Its verdict depends on the user's password and enrollments.
    package init(
        _ response: FactorResponse, of user: User?, enrollments: [Enrollment], policy: PasswordPolicy, by verifier: some FactorVerifier
    ) {
        self.init(
            of: FactorInputs(kind: verifier.kind, passwordHash: user?.passwordHash, enrollments: enrollments, others: verifier.inputs)
        ) {
            try await verifier.verify(response, of: user, policy: policy)
        }
    }
}

private struct FactorInputs: Equatable, Sendable {
    let kind: FactorKind
    let passwordHash: String?
    let enrollments: [Enrollment]
    let others: String
}

extension SignInTransaction {
    /// Whether the next step can depend on the user's other factors.
    fileprivate func asksForFactors(_ decision: SignOnDecision?) -> Bool {
        guard !rules.contains(.enrollsFactors), let decision else { return true }
        return decision.assurance.needsTwoFactors || !contextClasses.isEmpty || !ScopeRequest.interactive.isDisjoint(with: scopes)
    }
}

extension StoredUser {
    /// The condition that the stored user has not changed since the read.
    package var unchanged: Change { .unchanged(RecordReference(.user, value.id), version: version) }
}
