internal import Foundation
package import IdentityCore
internal import Store

/// The start of a classic sign-in by user name and password (Documentation/Protocol/Authn.md §4.2).
extension Engine {
    /// Signs a user in to the organization by user name and password. Wrong passwords, and unknown, locked and suspended accounts, get the
    /// same response after the same time, unless the policy shows the lockout.
    /// - Returns: The committed state; or a refusal: `E0000004` for every failed sign-in, `E0000047` over a limit, `E0000011` for an
    ///   unknown API token.
    package func classicSignIn(
        _ request: ClassicRequest, caller: ClassicCaller, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        let step = try await transact(context, refusing: ClassicRefusal.self) { [self] verdict in
            let isProved = (try? verdict?.get())?.isProved ?? false
            // Before a proof, the factors of a user must not be read.
            return Lookup(
                rows(
                    ofLogin: request.username, with: isProved ? [.subject, .rememberedDevices] : [], device: caller.issuedDevice))
        } read: { reading in
            try ClassicFirstStep(request, caller: caller, reading: reading, context: context)
        } check: { state in
            try state.check(self)
        } needsMore: { state, verdict in
            state.needsMore(verdict)
        } decide: { state, verdict in
            try state.decide(verdict?.get() ?? .failed, self)
        }
        return try await finish(step, context: context)
    }

    /// Returns the policy, and the trusted caller of a valid API token. Throws ``ClassicRefusal`` if the API is off or the API token is
    /// unknown.
    func admit(
        _ caller: ClassicCaller, snapshot: OrgSnapshot
    ) throws(ClassicRefusal) -> (policy: ClassicPolicy, trusted: ClassicPolicy.TrustedCaller?) {
        guard let policy = snapshot.organization.classic else { throw .notEnabled }
        guard let token = caller.apiToken else { return (policy, nil) }
        guard let trusted = policy.caller(token: token) else { throw .invalidToken("authn: API token") }
        return (policy, trusted)
    }
}

/// The first step of a classic sign-in, prepared from the data of one read.
private struct ClassicFirstStep: Sendable {
    private let login: String
    private let password: String
    private let policy: ClassicPolicy
    private let context: RequestContext
    private let first: FirstFactor
    private let isRepeated: Bool
    /// The sign-in after the password; `nil` before the read that follows a correct password.
    private let begun: BegunSignIn?

    /// Reads the state of a sign-in request; throws ``ClassicRefusal`` if the caller may not sign users in.
    init(
        _ request: ClassicRequest, caller: ClassicCaller, reading: Reading<Result<FactorVerdict, ClassicRefusal>>, context: RequestContext
    ) throws {
        let snapshot = try reading.snapshot
        let (policy, trusted) = try reading.engine.admit(caller, snapshot: snapshot)
        guard let application = snapshot.classicApplication else { throw ClassicRefusal.notEnabled }
        var transaction = SignInTransaction(
            id: try reading.engine.environment.random.identifier(prefix: "txn"),
            request: SignInRequest(classic: application), now: context.now,
            lifetime: SignInTransaction.idleLifetime)
        transaction.begin(
            by: caller, isTrusted: trusted != nil, relayState: request.relayState, enrollsOptional: request.enrollsOptional,
            warnsBeforeExpiry: request.warnsBeforeExpiry)
        login = Engine.possibleName(request.username)
        (password, self.policy, self.context, isRepeated) = (request.password, policy, context, reading.isRepeated)
        first = try FirstFactor(
            login, by: .password, of: transaction, after: try? reading.verdict?.get(), view: reading.view,
            snapshot: snapshot,
            context: context, engine: reading.engine)
        begun = try BegunSignIn(first, reading, context: context)
    }

    /// Returns the origin before the user is identified. A device token from a page does not count, because an attacker may have planted
    /// it.
    private func typedOrigin(_ application: Application) -> RequestOrigin {
        RequestOrigin(context, application: application, device: first.transaction.presentedDevice?.typed)
    }

    /// Counts the attempt, and returns the check of the password; throws ``ClassicRefusal`` over the limit.
    func check(_ engine: Engine) throws -> Check<Result<FactorVerdict, ClassicRefusal>> {
        guard let application = first.snapshot.classicApplication else { throw ClassicRefusal.notEnabled }
        let origin = typedOrigin(application)
        if !isRepeated {
            let attempts = engine.countFirstAttempt(
                login: login, of: first.account.user?.value, from: origin, snapshot: first.snapshot, context: context)
            guard attempts.isAdmitted else {
                throw ClassicRefusal.tooManyRequests(attempts, reason: "sign-in attempts for one user name or from one address")
            }
        }
        return first.check(.password(password), by: verifier(engine, origin)).refusingOverload(context)
    }

    func needsMore(_ verdict: Result<FactorVerdict, ClassicRefusal>) -> Bool {
        if case .success(let verdict) = verdict { first.needsMore(verdict) } else { false }
    }

    private func verifier(_ engine: Engine, _ origin: RequestOrigin) -> PasswordVerifier {
        PasswordVerifier(environment: engine.environment, origin: origin)
    }

    func decide(_ verdict: FactorVerdict, _ engine: Engine) throws -> ClassicPlan {
        let (next, outcome, writes, user) = try first.step(verdict, by: verifier(engine, first.origin), now: context.now)
        if let user, case .authenticated = outcome {
            let (shown, own) = try next.classicSuccess(version: 0, user: user, random: engine.environment.random, now: context.now)
            return Plan(.success(ClassicStepAnswer(shown)), writes + own)
        }
        if case .refused(let refusal) = outcome {
            if policy.showsLockout, let user, user.status == .active,
                user.isLocked(for: first.origin, policy: first.snapshot.passwordPolicy, now: context.now)
            {
                var shown = ClassicTransaction(.lockedOut)
                shown.relayState = next.classic?.relayState
                shown.next = .unlock
                return Plan(.success(ClassicStepAnswer(shown)), writes)
            }
            return Plan(.failure(.authenticationFailed(refusal.reason)), writes)
        }
        let token = try begun?.token ?? engine.environment.random.secret(prefix: "00")
        // After a conflict, the verdict can be a later one.
        let shown = begun.flatMap { $0.next == next ? $0.shown : nil }
        return Plan(
            shown ?? .success(ClassicStepAnswer(.continues(token: token))),
            writes + [.put(try next.record()), .issue(next.classicTicket(token))])
    }
}

/// A sign-in that continues after the password, as the read that knows the verdict finds it. So the response needs no further read.
private struct BegunSignIn: Sendable {
    let next: SignInTransaction
    let token: String
    let shown: Result<ClassicStepAnswer, ClassicRefusal>

    /// `nil` if the password is not proved, if the sign-in does not continue, or if showing it would write.
    init?(_ first: FirstFactor, _ reading: Reading<Result<FactorVerdict, ClassicRefusal>>, context: RequestContext) throws {
        let environment = reading.engine.environment
        guard let verdict = try? reading.verdict?.get(), verdict.isProved, var user = first.account.user else { return nil }
        let verifier = PasswordVerifier(environment: environment, origin: first.origin)
        let (next, outcome, _, after) = try first.step(verdict, by: verifier, now: context.now)
        switch outcome {
        case .authenticated, .refused: return nil
        default: break
        }
        user.value = after ?? user.value
        guard let subject = try reading.view.subject(user.value, of: next, snapshot: first.snapshot, from: context) else { return nil }
        (self.next, token) = (next, try environment.random.secret(prefix: "00"))
        let base = RecoveryState(committing: next, of: user, subject, snapshot: first.snapshot, context: context)
        let answer: Result<ClassicStepAnswer, ClassicRefusal>
        do {
            let state = try ClassicState(base, token: token, view: reading.view, environment: environment)
            guard try state.show(next).writes.isEmpty else { return nil }
            answer = state.shown(next)
        } catch let refusal as ClassicRefusal {
            answer = .failure(refusal)
        }
        shown = answer.mapError { refusal in
            var refusal = refusal
            refusal.userID = base.user.value.id
            return refusal
        }
    }
}
