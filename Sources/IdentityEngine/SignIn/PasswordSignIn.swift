internal import Foundation
internal import JOSE

extension IdentityEngine {
    /// The maximum length of a user name in bytes: longer than any login, also one with decomposed accents.
    private static let longestUsername = 1_024

    /// Returns the typed user name, or an empty name, which is always unknown, if the typed one is too long. The comparison of names takes
    /// quadratic time in the number of combining marks.
    static func possibleName(_ username: String) -> String { username.utf8.count <= longestUsername ? username : "" }
}

/// The first factor of a sign-in as one read finds it: the account of the typed name, and the requirements of the sign-in.
///
/// Until the factor is proved, the engine does the same reads, computation and writes for every name.
struct FirstFactor: Sendable {
    let transaction: SignInTransaction
    let account: NamedAccount
    /// `nil` for an unknown name.
    let subject: SignInTransaction.Subject?
    /// The origin of the request.
    let origin: RequestOrigin
    let snapshot: OrgSnapshot
    /// Whether the subject lacks the user's factors, which are read only once the first factor is proved.
    private let lacksFactors: Bool

    /// Reads the account.
    ///
    /// - Parameters:
    ///   - username: The name as it was typed.
    ///   - transaction: The sign-in that the factor begins.
    ///   - withEnrollments: Whether the factor is judged by the user's enrolments.
    ///   - isProved: Whether an earlier read of the same request led to a proof.
    ///   - view: The view that the account is read from.
    ///   - snapshot: The configuration of the same view.
    ///   - context: The time, for locks, and the origin of the request.
    ///   - engine: The generator of decoys for unknown names.
    /// - Throws: ``StoreError`` if the store failed.
    init(
        _ username: String, of transaction: SignInTransaction, withEnrollments: Bool = false, isProved: Bool, view: any StoreView,
        snapshot: OrgSnapshot, context: RequestContext, engine: IdentityEngine
    ) throws {
        (self.transaction, self.snapshot) = (transaction, snapshot)
        account = try engine.namedAccount(username, withEnrollments: withEnrollments, in: view)
        origin = try view.origin(of: transaction, by: account.user?.value.id ?? account.decoy.id, snapshot: snapshot, context: context)
        guard let user = account.user?.value else {
            (subject, lacksFactors) = (nil, false)
            return
        }
        let isOpen = user.isOpen(to: origin, policy: snapshot.passwordPolicy, now: context.now)
        guard isProved, isOpen else {
            let known = SignInTransaction.Subject(unproved: user, of: transaction, from: origin, snapshot: snapshot)
            // A second read would reveal the right password of a closed account.
            (subject, lacksFactors) = (known, isOpen && transaction.asksForFactors(known?.decision))
            return
        }
        (subject, lacksFactors) = (try view.subject(user, of: transaction, snapshot: snapshot, from: context), false)
    }

    /// Whether a verdict asks for another read, with the user's factors.
    func needsMore(_ verdict: FactorVerdict) -> Bool { verdict.isProved && lacksFactors }

    /// The check of an answer.
    func check(_ response: FactorResponse, by verifier: some FactorVerifier) -> Check<FactorVerdict> {
        Check(
            response, of: account.user?.value, enrollments: account.enrollments, policy: snapshot.passwordPolicy, by: verifier)
    }

    /// Takes the step, and returns it with its writes. A wrong answer always writes one account record.
    func step(
        _ verdict: FactorVerdict, by verifier: some FactorVerifier, now: Date
    ) throws -> (SignInTransaction, SignInTransaction.Outcome, Writes, user: User?) {
        let (next, outcome, effects) = transaction.step(
            .judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict, subject), now: now)
        // On a page, a wrong answer does not bind the sign-in to the user.
        var writes = try Writes(effects, of: next, user: account.user, userID: account.user?.value.id)
        if !effects.writesUser {
            switch outcome {
            case .refused, .tryAgain: writes += [try account.idleWrite()]
            // The verdict may be seconds old: a lock, a deactivation or a new password since then must be seen.
            default: if let user = account.user { writes += [user.unchanged] }
            }
        }
        return (next, outcome, writes, account.user.map { effects.user(after: $0.value) })
    }
}

extension Check<FactorVerdict> {
    /// The check of an answer to a factor. Its verdict depends on the user's password and on the enrolments.
    init(
        _ response: FactorResponse, of user: User?, enrollments: [Enrollment], policy: PasswordPolicy, by verifier: some FactorVerifier
    ) {
        self.init(of: FactorInputs(kind: verifier.kind, passwordHash: user?.passwordHash, enrollments: enrollments)) {
            try await verifier.verify(response, of: user, policy: policy)
        }
    }
}

private struct FactorInputs: Equatable, Sendable {
    let kind: FactorKind
    let passwordHash: String?
    let enrollments: [Enrollment]
}

extension SignInTransaction {
    /// Whether the next step can depend on the user's other factors.
    fileprivate func asksForFactors(_ decision: SignOnDecision?) -> Bool {
        guard hosted == nil, classic == nil, let decision else { return true }
        return decision.assurance == .twoFactors || !contextClasses.isEmpty || !ScopeRequest.interactive.isDisjoint(with: scopes)
    }

    /// The ticket of an `mfa_token` of this sign-in.
    func mfaTicket(_ token: String) -> Ticket {
        Ticket(
            kind: .mfaToken, digest: TicketDigest(of: token), owner: RecordReference(.transaction, id), use: .untilClosed,
            expiresAt: expiresAt.addingTimeInterval(Self.keptAfter))
    }
}

/// A grant that begins a sign-in with a user name and an answer to one factor.
protocol FirstFactorHandler: GrantHandler {
    var first: FirstFactorGrant { get }
}

extension FirstFactorHandler {
    func check(_ engine: IdentityEngine) throws -> Check<GrantVerdict>? { try first.check(engine) }
    func needsMore(_ verdict: GrantVerdict) -> Bool { first.needsMore(verdict) }
    func decide(_ engine: IdentityEngine, _ verdict: FactorVerdict?) throws -> TokenDecision { try first.decide(engine, verdict) }
}

/// The read, the check and the decision of such a grant.
struct FirstFactorGrant: Sendable, Redacted {
    private let request: AdmittedRequest
    private let login: String
    private let response: FactorResponse
    private let scopes: [String]
    private let first: FirstFactor
    private let verifier: any FactorVerifier

    /// - Parameters:
    ///   - response: The answer.
    ///   - username: The name as it was typed.
    ///   - withEnrollments: Whether the factor is judged by the user's enrolments.
    ///   - request: The request of the grant.
    ///   - reading: The read of the request.
    ///   - verifier: Returns the verifier for the account.
    /// - Throws: ``Refusal``, ``StoreError``.
    init(
        _ response: FactorResponse, of username: String, withEnrollments: Bool = false, _ request: AdmittedRequest,
        reading: Reading<GrantVerdict>, by verifier: (FirstFactor) -> any FactorVerifier
    ) throws {
        self.request = request
        self.response = response
        login = IdentityEngine.possibleName(username)
        scopes = try ScopeRequest(request["scope"]).grantedToUser(of: request.application, by: request.server)
        let transaction = SignInTransaction(
            id: try reading.engine.environment.random.identifier(prefix: "txn"), request: SignInRequest(request, scopes: scopes),
            now: request.context.now, lifetime: TimeInterval(request.snapshot.mfaTokenLifetime))
        first = try FirstFactor(
            login, of: transaction, withEnrollments: withEnrollments, isProved: (try? reading.verdict?.get())?.isProved ?? false,
            view: reading.view, snapshot: request.snapshot, context: request.context, engine: reading.engine)
        self.verifier = verifier(first)
    }

    /// Counts the attempt and checks the answer.
    func check(_ engine: IdentityEngine) throws -> Check<GrantVerdict> {
        if !request.isRepeated {
            let attempts = engine.countFirstAttempt(
                login: login, of: first.account.user?.value, from: first.origin, snapshot: request.snapshot, context: request.context)
            guard attempts.isAdmitted else {
                throw Refusal.tooManyRequests(attempts, reason: "sign-in attempts for one user name or from one address")
            }
        }
        let now = request.context.now
        return first.check(response, by: verifier).map { judge in
            do {
                return .success(try await judge())
            } catch is PasswordHasher.Overloaded {
                // Zero in both headers: the limit depends on the load, not on a count.
                let busy = RateLimitStatus(limit: 0, remaining: 0, reset: now.addingTimeInterval(1), isAdmitted: false)
                return .failure(.tooManyRequests(busy, reason: "too many passwords wait to be hashed"))
            }
        }
    }

    func needsMore(_ verdict: GrantVerdict) -> Bool { if case .success(let verdict) = verdict { first.needsMore(verdict) } else { false } }

    /// Takes the step; issues tokens if it is the last one, or an `mfa_token`.
    func decide(_ engine: IdentityEngine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        let now = request.context.now
        // Signing out everywhere also ends the sign-ins that it overtook.
        if request.hasConflicted, verdict?.isProved == true, let user = first.account.user?.value, let ended = user.sessionsEndedAt,
            ended >= now
        {
            return .refused(.overTransaction, Writes(), userID: user.id)
        }
        let (next, outcome, writes, user) = try first.step(verdict ?? .failed, by: verifier, now: now)
        switch outcome {
        case .authenticated(let authentication):
            guard let user else { throw Refusal.overTransaction }
            return try UserGrant(request: request, user: user, authentication: authentication, scopes: scopes).issue(
                afterProof: writes, engine)
        case .refused(let refusal): return .refused(refusal, writes, userID: nil, isGuess: true)
        case .factorRequired(let grantTypes):
            let token = try engine.environment.random.secret(prefix: "mfa_")
            return .refused(
                .factorRequired(grantTypes, token: token), writes + [.put(try next.record()), .issue(next.mfaTicket(token))], userID: nil)
        case .enrollmentRequired, .enrollmentOffered, .passwordDue, .recovering, .unlocked, .tryAgain, .challenged, .pending, .judged,
            .tooLate, .cancelled:
            return .refused(.overTransaction, writes, userID: nil)
        }
    }
}

extension StoredUser {
    /// The condition that no other request wrote the user.
    var unchanged: Change { .unchanged(RecordReference(.user, value.id), version: version) }
}

extension Refusal {
    /// Another factor is asked for (oauth reference 2.4.11).
    static func factorRequired(_ grantTypes: [String], token: String) -> Refusal {
        Refusal(
            .mfaRequired, "Verify with an additional authenticator.",
            members: ["mfa_token": .string(token), "supported_challenge_types": .string(grantTypes.joined(separator: " "))],
            reason: "a second factor is asked for")
    }
}
