internal import Foundation

/// What a client presents for a factor (authn reference 4.7); without anything, a challenge is asked for.
public struct ClassicProof: Sendable {
    /// A code.
    public var passCode: String?
    /// The answer to a security question.
    public var answer: String?

    /// Describes what is presented.
    public init(passCode: String? = nil, answer: String? = nil) {
        self.passCode = passCode
        self.answer = answer
    }
}

extension ClassicProof: CustomStringConvertible, CustomReflectable {
    /// Which parts there are; never what was typed.
    public var description: String { "ClassicProof(passCode: \(passCode != nil), answer: \(answer != nil))" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// Challenging, verifying and polling a factor (authn reference 4.7 and 4.8).
extension IdentityEngine {
    /// Asks for a factor, takes a proof of it, or looks whether a device has answered.
    ///
    /// - Parameters:
    ///   - factorID: The factor, from the path.
    ///   - proof: What the client presents.
    ///   - stateToken: Leads to the sign-in.
    ///   - context: When and from where it came.
    /// - Returns: Where the sign-in stands; or a refusal.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicVerify(
        factorID: String, _ proof: ClassicProof, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        var counted = false
        return try await classicStep(stateToken, context: context) { [self] state in
            let factor = try state.presentable(factorID)
            if factor.push != nil {
                // What came of a question is told once; whoever asks again means a new one.
                let isTold = state.classic.reportedChallenge == state.transaction.challengeCount
                if state.classic.selected == factorID, !isTold, state.result(of: factor, in: state.transaction, now: context.now) != nil {
                    return try await poll(factor, state, context: context)
                }
                return try await sendPush(to: factor, state, context: context)
            }
            guard let code = proof.passCode else {
                var next = state.transaction
                let closing = next.closingChallenge
                next.withdrawChallenge(now: context.now)
                next.classic?.selected = factorID
                return try await show(next, of: state, closing: closing, context: context)
            }
            if !counted {
                counted = true
                let attempts = countAttempt(login: state.user.value.login, snapshot: state.snapshot, context: context)
                guard attempts.isAdmitted else {
                    throw ClassicRefusal.tooManyRequests(attempts, reason: "sign-in attempts for one user name or from one address")
                }
            }
            let verifier = TOTPVerifier(
                environment: environment, enrollments: state.enrollments.filter { $0.id == factor.id }, now: context.now)
            let verdict = try verifier.verify(.code(code), of: state.user.value, policy: state.snapshot.passwordPolicy)
            let wrong = try verdict == .failed ? refusal(ofCode: code, factor, context: context) : .wrongCode
            return try await commit(verdict, verifier, state, wrong: wrong, context: context)
        }
    }

    /// Sends what was sent again.
    ///
    /// - Parameters:
    ///   - factorID: The factor, from the path.
    ///   - stateToken: Leads to the sign-in.
    ///   - context: When and from where it came.
    /// - Returns: Where the sign-in stands; or a refusal: `E0000079` unless this factor is asked for.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicResend(
        factorID: String, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { [self] state in
            let factor = try state.presentable(factorID)
            guard state.classic.selected == factorID, factor.push != nil else { throw ClassicRefusal.notAllowed(in: "resend") }
            // An approval that is there already is worth more than another question.
            if state.transaction.challenge?.approver != nil { return try await poll(factor, state, context: context) }
            return try await sendPush(to: factor, state, context: context)
        }
    }

    // MARK: - Pushes

    private func sendPush(to factor: Enrollment, _ state: ClassicState, context: RequestContext) async throws -> ClassicAnswer? {
        var start = ChallengeStart(stored: state.stored, user: state.user, type: "")
        start.enrollmentID = factor.id
        start.transaction = start.transaction.extended(now: context.now) ?? start.transaction
        start.transaction.classic?.selected = factor.classicID
        guard let server = state.snapshot.server(nil) else { throw ClassicRefusal.notEnabled }
        let admitted = AdmittedRequest(
            snapshot: state.snapshot, server: server, application: state.application, grantType: GrantType.secondFactorOOB,
            parameters: [:], context: context, assertionUse: nil)
        let planned = try await store.read { [self, start] view -> Result<PlannedChallenge, Refusal> in
            do { return .success(try plan(start, admitted, view)) } catch let refusal as Refusal { return .failure(refusal) }
        }
        switch planned {
        case .failure(let refusal): throw ClassicRefusal.factorFailed(refusal)
        case .success(let plan):
            let (next, outcome, effects) = start.transaction.step(.challenged(plan.plan.challenge, plan.subject), now: context.now)
            guard case .challenged = outcome else {
                let log = try logEntries(effects, userID: next.userID, of: next, context: context)
                return try await conclude(
                    next, outcome, state, user: state.user.value, changes: log, wrong: .wrongCode, context: context)
            }
            let (changes, answer) = try commitment(of: plan, context: context)
            guard try await store.commit(changes) == .committed else { return nil }
            guard case .success(let started) = try answer() else { return nil }
            return ClassicAnswer(try state.representation(of: next, now: context.now), pushes: started.pushes)
        }
    }

    /// Looks what a device answered.
    private func poll(_ factor: Enrollment, _ state: ClassicState, context: RequestContext) async throws -> ClassicAnswer? {
        guard let challenge = state.transaction.challenge else { return nil }
        if challenge.isOpen(at: context.now) {
            return try await show(state.transaction, of: state, context: context)
        }
        // Who lost a device, or distrusts it, has closed it since: its approval proves nothing.
        let subject = challenge.approver != nil && state.approver == nil ? nil : state.subject
        var (next, outcome, effects) = state.transaction.step(.polled(subject), now: context.now)
        var changes = try logEntries(effects, userID: next.userID, of: next, context: context) + state.transaction.closingChallenge
        if case .tryAgain = outcome {
            next.classic?.selected = factor.classicID
            return try await show(next, of: state, closing: changes, context: context)
        }
        var user = state.user.value
        if let approver = state.approver {
            changes.append(.put(try approver.record()))
            // Where the sign-in that the person approved was started.
            user = challenge.fingerprint.map { SignInOrigin.remembering($0, of: user) } ?? user
            if user != state.user.value { changes.append(.put(try state.user.record(holding: user))) }
        }
        return try await conclude(next, outcome, state, user: user, changes: changes, wrong: .wrongCode, context: context)
    }

    // MARK: - Codes

    /// Why a code was wrong. What was right once tells nobody anything: it is good no more.
    private func refusal(ofCode code: String, _ factor: Enrollment, context: RequestContext) throws -> ClassicRefusal {
        guard let totp = factor.totp else { return .wrongCode }
        let secret = try totp.secret(ofEnrollment: factor.id, environment: environment)
        if TimeBasedCode.step(ofTyped: code, secret: secret, now: context.now, after: nil) != nil { return .replayedCode }
        // Not those to come: who is told that one will be right some time would wait for it.
        return TimeBasedCode.isPast(code, secret: secret, now: context.now) ? .lateCode : .wrongCode
    }

    /// Commits what a proof came to: transaction, counters and log in one write.
    private func commit(
        _ verdict: FactorVerdict, _ verifier: some FactorVerifier, _ state: ClassicState, wrong: ClassicRefusal, context: RequestContext
    ) async throws -> ClassicAnswer? {
        let (next, outcome, effects) = state.transaction.step(
            .judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict, state.subject), now: context.now)
        var user = state.user.value
        var changes = try logEntries(effects, userID: next.userID, of: next, context: context)
        for effect in effects {
            switch effect {
            case .writeUser(let changed):
                user = changed
                changes.append(.put(try state.user.record(holding: changed)))
            case .writeEnrollment(let used): changes.append(.put(try used.record()))
            case .log: break
            }
        }
        return try await conclude(next, outcome, state, user: user, changes: changes, wrong: wrong, context: context)
    }

    /// Commits a step after which the sign-in goes on, is finished, or is over.
    ///
    /// - Returns: Nil if somebody else was faster.
    func conclude(
        _ next: SignInTransaction, _ outcome: SignInTransaction.Outcome, _ state: ClassicState, user: User, changes: [Change],
        wrong: ClassicRefusal, context: RequestContext
    ) async throws -> ClassicAnswer? {
        var next = next
        var changes = changes
        switch outcome {
        case .authenticated:
            let (answer, own) = try classicSuccess(next, version: state.stored.version, user: user, context: context)
            return try await store.commit(changes + own) == .committed ? answer : nil
        case .tryAgain:
            // A locked account lets nobody on, and its sign-ins are over.
            let isLocked = user.lockedAt != nil && !user.isLockOver(policy: state.snapshot.passwordPolicy, now: context.now)
            if isLocked {
                next.end = .refused
                changes.append(.closeTickets(of: RecordReference(.transaction, next.id)))
            }
            next = next.extended(now: context.now) ?? next
            guard try await store.commit(changes + [state.stored.writing(next)]) == .committed else { return nil }
            throw isLocked ? ClassicRefusal.locked : wrong
        case .refused(let refusal):
            changes += [try state.stored.writing(next), .closeTickets(of: RecordReference(.transaction, next.id))]
            guard try await store.commit(changes) == .committed else { return nil }
            throw next.wrongAnswers >= SignInTransaction.mostWrongAnswers ? .locked : ClassicRefusal.invalidToken(refusal.reason)
        default:
            next.classic?.selected = nil
            next = next.extended(now: context.now) ?? next
            guard try await store.commit(changes + [state.stored.writing(next)]) == .committed else { return nil }
            let after = try await classicState(state.token, context: context)
            return ClassicAnswer(try after.representation(of: after.transaction, now: context.now))
        }
    }
}

extension ClassicState {
    /// A factor that can be presented now; throws ``ClassicRefusal`` if there is no such factor, or none is asked for.
    func presentable(_ factorID: String) throws(ClassicRefusal) -> Enrollment {
        switch status(of: transaction) {
        case .factorRequired?, .factorChallenge?: break
        case let other: throw .notAllowed(in: other?.rawValue ?? "none")
        }
        guard let factor = presentable.first(where: { $0.classicID == factorID }) else { throw .unknownFactor }
        return factor
    }
}
