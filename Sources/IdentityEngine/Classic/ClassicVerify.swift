internal import Foundation
public import JOSE

/// What a client presents for a factor (authn reference 4.7); without anything, a challenge is asked for.
public struct ClassicProof: Sendable {
    /// A code.
    public var passCode: String?
    /// The answer to a security question.
    public var answer: String?
    /// Whether the device is to stand in for the factor from now on, where the policy lets it.
    public var remembersDevice: Bool
    /// Whether the client is to ask this push factor by itself from now on; nil to leave that as it is.
    public var autoPush: Bool?

    /// Describes what is presented.
    public init(passCode: String? = nil, answer: String? = nil, remembersDevice: Bool = false, autoPush: Bool? = nil) {
        self.autoPush = autoPush
        self.passCode = passCode
        self.answer = answer
        self.remembersDevice = remembersDevice
    }
}

extension ClassicProof {
    /// What is presented for a factor; nil if nothing is.
    func response(to factor: Enrollment) -> FactorResponse? {
        factor.question == nil ? passCode.map(FactorResponse.code) : answer.map(FactorResponse.answer)
    }
}

extension ClassicProof: Redacted {
    /// Which parts there are; never what was typed.
    public var description: String { "ClassicProof(passCode: \(passCode != nil), answer: \(answer != nil))" }
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
        // Asked once, however often the step is tried: what takes codes once would refuse its own.
        var judged: TokenVerdict?
        return try await classicStep(stateToken, context: context) { [self] state in
            if factorID == "webauthn" { throw ClassicRefusal.notSupported }
            let factor = try state.presentable(factorID)
            if factor.push != nil {
                // What came of a question is told once; whoever asks again means a new one.
                let isTold = state.classic.reportedChallenge == state.transaction.challengeCount
                if state.classic.selected == factorID, !isTold, state.result(of: factor, in: state.transaction, now: context.now) != nil {
                    if !counted {
                        counted = true
                        try countPoll(of: state.transaction, context: context)
                    }
                    return try await poll(factor, state, proof, context: context)
                }
                return try await sendPush(to: factor, state, autoPush: proof.autoPush, context: context)
            }
            guard let response = proof.response(to: factor) else { return try await ask(for: factor, state, context: context) }
            if !counted {
                counted = true
                try countClassicAttempt(state, context: context)
            }
            if let token = factor.token {
                let verdict = try await judge(proof.passCode, of: token, state, &judged)
                let verifier = TokenVerifier(token: token)
                return try await commit(verdict, verifier, state, remembers: proof.remembersDevice, wrong: .wrongCode, context: context)
            }
            return try await judge(response, to: factor, state, remembers: proof.remembersDevice, context: context)
        }
    }

    /// Chooses a factor that takes something typed; what the person's devices were asked is taken back.
    private func ask(for factor: Enrollment, _ state: ClassicState, context: RequestContext) async throws -> ClassicAnswer? {
        if factor.code != nil { return try await sendCode(to: factor, state, context: context) }
        var next = state.transaction
        let closing = next.closingChallenge
        next.withdrawChallenge(now: context.now)
        next.classic?.selected = factor.classicID
        return try await show(next, of: state, closing: closing, context: context)
    }

    /// Judges what was typed, and commits what it comes to.
    private func judge(
        _ response: FactorResponse, to factor: Enrollment, _ state: ClassicState, remembers: Bool, context: RequestContext
    ) async throws -> ClassicAnswer? {
        let policy = state.snapshot.passwordPolicy
        let user = state.user.value
        if factor.question != nil {
            let verifier = QuestionVerifier(environment: environment, enrollments: state.enrollments, origin: state.subject.origin)
            do {
                let verdict = try await verifier.verify(response, of: user, policy: policy)
                return try await commit(verdict, verifier, state, remembers: remembers, wrong: .wrongCode, context: context)
            } catch is PasswordHasher.Overloaded {
                throw ClassicRefusal.busy(context)
            }
        }
        if let method = factor.code {
            if let until = method.closedUntil(at: context.now) {
                throw ClassicRefusal(.tooMany(method.channel, until: until), context: context)
            }
            let verifier = CodeVerifier(
                environment: environment, channel: method.channel, enrollments: state.enrollments, owner: state.transaction.id,
                now: context.now)
            let verdict = verifier.verify(response, of: user, policy: policy)
            return try await commit(verdict, verifier, state, remembers: remembers, wrong: .wrongCode, context: context)
        }
        if factor.hotp != nil {
            let verifier = HOTPVerifier(environment: environment, enrollment: factor)
            let (verdict, match) = try verifier.judge(response, of: user)
            // Outside of a time window (authn reference 4.7, E0000083) is no code of a counter: one that was passed was used, and one that
            // is to come is answered as any wrong one, or it could be guessed now and kept.
            let wrong: ClassicRefusal = match == .used ? .replayedCode : .wrongCode
            return try await commit(verdict, verifier, state, remembers: remembers, wrong: wrong, context: context)
        }
        let verifier = TOTPVerifier(
            environment: environment, enrollments: state.enrollments.filter { $0.id == factor.id }, now: context.now)
        let verdict = try verifier.verify(response, of: user, policy: policy)
        let wrong = try verdict == .failed ? refusal(of: response, factor, context: context) : .wrongCode
        return try await commit(verdict, verifier, state, remembers: remembers, wrong: wrong, context: context)
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
            guard state.classic.selected == factorID, factor.push != nil || factor.code != nil else {
                throw ClassicRefusal.notAllowed(in: "resend")
            }
            if factor.code != nil { return try await sendCode(to: factor, state, context: context) }
            // An approval that is there already is worth more than another question.
            if state.transaction.challenge?.approver != nil { return try await poll(factor, state, ClassicProof(), context: context) }
            // As on the pages: a question that the person is just reading is not taken from them.
            if state.transaction.isChallengeYoung(at: context.now) { return try await show(state.transaction, of: state, context: context) }
            return try await sendPush(to: factor, state, context: context)
        }
    }

    // MARK: - Pushes

    private func sendPush(
        to factor: Enrollment, _ state: ClassicState, autoPush: Bool? = nil, context: RequestContext
    ) async throws -> ClassicAnswer? {
        var start = ChallengeStart(stored: state.stored, user: state.user, type: "")
        start.enrollmentID = factor.id
        start.transaction = start.transaction.extended(now: context.now) ?? start.transaction
        start.transaction.classic?.selected = factor.classicID
        start.transaction.classic?.autoPushChoice = autoPush ?? state.classic.autoPushChoice
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
                return try await conclude(next, outcome, effects, state, wrong: .wrongCode, context: context)
            }
            guard case .success(let started)? = try await commit(try commitment(of: plan, context: context), context: context) else {
                return nil
            }
            return ClassicAnswer(try state.representation(of: next, now: context.now), pushes: started.pushes)
        }
    }

    /// Counts a poll; throws ``ClassicRefusal`` over the limit. Clients poll every three to five seconds (authn reference 2.5); one that does
    /// so every second is let be.
    func countPoll(of transaction: SignInTransaction, context: RequestContext) throws(ClassicRefusal) {
        let polls = rateLimiter.count(.polls(transaction.id), limit: 60, now: context.now)
        guard polls.isAdmitted else { throw .tooManyRequests(polls, reason: "polls of one sign-in") }
    }

    /// Looks what a device answered.
    private func poll(
        _ factor: Enrollment, _ state: ClassicState, _ proof: ClassicProof, context: RequestContext
    ) async throws -> ClassicAnswer? {
        guard let challenge = state.transaction.challenge else { return nil }
        if challenge.isOpen(at: context.now) {
            return try await show(state.transaction, of: state, context: context)
        }
        // Who lost a device, or distrusts it, has closed it since: its approval proves nothing.
        let subject = challenge.approver != nil && state.approver == nil ? nil : state.subject
        var (next, outcome, effects) = state.transaction.step(.polled(subject), now: context.now)
        var changes = state.transaction.closingChallenge
        if case .tryAgain = outcome {
            changes += try logEntries(effects, userID: next.userID, of: next, context: context)
            next.classic?.selected = factor.classicID
            return try await show(next, of: state, closing: changes, context: context)
        }
        if let approver = state.approver { changes.append(.put(try approver.record())) }
        var answer = try await conclude(
            next, outcome, effects, state, changes: changes, remembers: proof.remembersDevice, wrong: .wrongCode,
            context: context)
        if let choice = proof.autoPush ?? state.classic.autoPushChoice {
            answer?.autoPush = state.classic.autoPush(of: factor.classicID, set: choice)
        }
        return answer
    }

    // MARK: - Codes

    /// Makes a code and sends it; the one before is good no more.
    private func sendCode(to factor: Enrollment, _ state: ClassicState, context: RequestContext) async throws -> ClassicAnswer? {
        let prepared: PreparedCode
        do {
            let request = CodeRequest(purpose: .signIn, owner: state.transaction.id, applicationName: nil)
            prepared = try prepareCode(request, for: factor, of: state.user.value, snapshot: state.snapshot, context: context)
        } catch let refusal as CodeRefusal {
            throw ClassicRefusal(refusal, context: context)
        }
        var next = state.transaction
        let closing = next.closingChallenge
        next.withdrawChallenge(now: context.now)
        next.classic?.selected = factor.classicID
        guard
            var answer = try await show(
                next, of: state, closing: closing + changes(of: prepared.writes, context: context), context: context)
        else { return nil }
        answer.messages = [prepared.message]
        return answer
    }

    /// Why a code was wrong. What was right once tells nobody anything: it is good no more.
    private func refusal(of response: FactorResponse, _ factor: Enrollment, context: RequestContext) throws -> ClassicRefusal {
        guard case .code(let code) = response, let totp = factor.totp else { return .wrongCode }
        let secret = try totp.secret(ofEnrollment: factor.id, environment: environment)
        if TimeBasedCode.step(ofTyped: code, secret: secret, now: context.now, after: nil) != nil { return .replayedCode }
        // Not those to come: who is told that one will be right some time would wait for it.
        return TimeBasedCode.isPast(code, secret: secret, now: context.now) ? .lateCode : .wrongCode
    }

    /// Commits what a proof came to: transaction, counters and log in one write.
    func commit(
        _ verdict: FactorVerdict, _ verifier: some FactorVerifier, _ state: ClassicState, remembers: Bool = false, wrong: ClassicRefusal,
        context: RequestContext
    ) async throws -> ClassicAnswer? {
        let (next, outcome, effects) = state.transaction.step(
            .judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict, state.subject), now: context.now)
        return try await conclude(next, outcome, effects, state, remembers: remembers, wrong: wrong, context: context)
    }
}

extension ClassicSignIn {
    /// The most push factors of which a browser keeps that they are asked by themselves.
    static let mostAutoPush = 10

    /// What the browser is to keep once a person chose.
    fileprivate func autoPush(of factorID: String, set isOn: Bool) -> [String] {
        let others = (autoPush ?? []).filter { $0 != factorID }
        return Array((isOn ? others + [factorID] : others).suffix(Self.mostAutoPush))
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
