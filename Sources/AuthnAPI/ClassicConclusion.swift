internal import Foundation
internal import IdentityCore
internal import Store

/// The plans that end a step of a classic sign-in.
extension ClassicState {
    /// The sign-in after a step, with its outcome and its effects.
    typealias Step = (SignInTransaction, SignInTransaction.Outcome, [SignInTransaction.Effect])

    /// Plans a step with its effects.
    /// - Parameters:
    ///   - writes: Writes to commit in addition to the effects.
    ///   - remembers: Whether to remember the device if the step proved a factor.
    ///   - wrong: The refusal after a wrong answer, if the user may try again.
    func conclude(
        _ step: Step, writes: Writes = Writes(), remembers: Bool = false, wrong: ClassicRefusal
    ) throws -> ClassicPlan {
        var (next, outcome, effects) = step
        let person = effects.user(after: user.value)
        var writes = try writes + Writes(effects, of: next, user: user)
        var deviceToken: String?
        // A device that was remembered by a recovery code would outlive the code's list.
        if remembers, next.proofs.count > transaction.proofs.count, next.proofs.last?.factor != .savedCode {
            let (remembered, token) = try remember(next)
            writes += remembered
            deviceToken = token
        }
        var answer: Result<ClassicStepAnswer, ClassicRefusal>
        switch outcome {
        case .authenticated:
            let (shown, own) = try next.classicSuccess(
                version: stored.version, user: person, random: environment.random, now: context.now)
            answer = .success(ClassicStepAnswer(shown))
            writes += own
        case .unlocked:
            writes += [try stored.writing(next), .closeTickets(of: RecordReference(.transaction, next.id))]
            var shown = ClassicTransaction(.success)
            shown.recoveryType = Recovery.Kind.unlock.rawValue
            shown.relayState = next.classic?.relayState
            shown.user = ClassicPerson(person)
            answer = .success(ClassicStepAnswer(shown))
        case .tryAgain:
            // Locking ends the sign-in, except during unlock.
            let isLocked =
                next.recovery == nil && person.isLocked(for: subject.origin, policy: snapshot.passwordPolicy, now: context.now)
            if isLocked {
                next.end = .refused
                writes += [.closeTickets(of: RecordReference(.transaction, next.id))]
            }
            writes += [try stored.writing(next.extended(now: context.now) ?? next)]
            answer = .failure(isLocked ? .locked : wrong)
        case .refused(let refusal):
            writes += [try stored.writing(next), .closeTickets(of: RecordReference(.transaction, next.id))]
            answer = .failure(next.wrongAnswers >= SignInTransaction.mostWrongAnswers ? .locked : .invalidToken(refusal.reason))
        default:
            next.classic?.selected = nil
            writes += [try stored.writing(next.extended(now: context.now) ?? next)]
            answer = .success(ClassicStepAnswer(.continues(token: token)))
        }
        return Plan(answer, writes).answering { $0.deviceToken = deviceToken }
    }

    /// Plans the step after the verification of an answer to a factor.
    func answered(
        _ verdict: FactorVerdict, by verifier: some FactorVerifier, remembers: Bool = false, wrong: ClassicRefusal = .wrongCode
    ) throws -> ClassicPlan {
        let step = transaction.step(
            .judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict, subject), now: context.now)
        return try conclude(step, remembers: remembers, wrong: wrong)
    }

    /// Plans a response with a state of the sign-in. Writes the state if it changed or if the plan extends its expiry. Ends a sign-in that
    /// requires nothing more.
    func show(_ next: SignInTransaction, writes: Writes = Writes()) throws -> ClassicPlan {
        let step = next.proved(subject, "user.authentication", [])
        switch step.1 {
        case .authenticated where next.recovery == nil, .refused where next.recovery == nil:
            // The policy or the user's factors have changed since the last step.
            return try conclude(step, writes: writes, wrong: .wrongCode)
        default: break
        }
        let written = next.extended(now: context.now) ?? next
        let changes = written == transaction && writes.isEmpty ? [] : [try stored.writing(written)]
        return Plan(shown(written), writes + changes)
    }

    func shown(_ transaction: SignInTransaction) -> Result<ClassicStepAnswer, ClassicRefusal> {
        Result { () throws(ClassicRefusal) in ClassicStepAnswer(try representation(of: transaction)) }
    }

    /// Checks that the sign-in has one of the statuses; throws ``ClassicRefusal`` otherwise.
    func require(_ allowed: ClassicTransaction.Status...) throws(ClassicRefusal) {
        let status = status(of: transaction)
        guard let status, allowed.contains(status) else { throw .notAllowed(in: status?.rawValue ?? "none") }
    }
}

extension SignInTransaction {
    /// Ends a classic sign-in, and returns its session token with the writes.
    func classicSuccess(
        version: Int64, user: User, random: any RandomSource, now: Date
    ) throws -> (ClassicTransaction, Writes) {
        var ended = self
        // The session token refers to the transaction.
        ended.expiresAt = now.addingTimeInterval(SessionToken.lifetime)
        let token = try random.secret(prefix: "20")
        var writes = Writes([
            .put(try ended.record(version: version)), .closeTickets(of: RecordReference(.transaction, id)),
            ended.issue(.sessionToken, token),
        ])
        writes.log("user.session.token", .success, userID: user.id, clientID: applicationID)
        var shown = ClassicTransaction(.success)
        shown.sessionToken = token
        shown.expiresAt = ended.expiresAt
        shown.relayState = classic?.relayState
        shown.user = ClassicPerson(user)
        return (shown, writes)
    }
}
