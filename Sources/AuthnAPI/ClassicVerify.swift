internal import Foundation
package import IdentityCore
internal import JOSE
internal import Store

/// The client's proof of a factor (Documentation/Protocol/Authn.md §4.7). Without a code or answer, the request selects the factor,
/// sends a code or a push, or polls a pending push.
package struct ClassicProof: Sendable {
    package var passCode: String?
    package var answer: String?
    /// Whether the device may replace the factor from now on, if the policy allows it.
    package var remembersDevice: Bool = false
    /// Whether the client starts this push automatically from now on; `nil` for no change.
    package var autoPush: Bool?
    /// The signature of a passkey; `nil` for none.
    package var assertion: PasskeyAssertion?
}

extension ClassicProof {
    /// Returns the response to a factor; `nil` if the proof has none.
    func response(to factor: Enrollment) -> FactorResponse? {
        factor.question == nil ? passCode.map(FactorResponse.code) : answer.map(FactorResponse.answer)
    }
}

extension ClassicProof: Redacted {
    package var description: String {
        "ClassicProof(passCode: \(passCode != nil), answer: \(answer != nil), assertion: \(assertion != nil))"
    }
}

/// The action of a request for a factor, decided on one read of the store.
private struct FactorStep: Sendable {
    enum Action: Sendable {
        case show
        /// Selects a factor for which nothing is sent, such as an authenticator app. The user types the code or answer.
        case select
        case sendCode
        case sendPush(PlannedChallenge)
        /// Reads the device's answer to the push.
        case poll
        case answer(FactorResponse)
    }

    let factor: Enrollment
    let action: Action
}

/// The action of a request for a factor or for passkeys.
private enum VerifyStep: Sendable {
    case factor(FactorStep)
    /// Starts a challenge for the passkeys that the path names.
    case challenge([Enrollment])
    /// Verifies a signature of one of the passkeys that the path names.
    case assertion(PasskeyAssertion, [Enrollment])
}

/// Challenging, verifying and polling a factor (Documentation/Protocol/Authn.md §4.7 and §4.8).
extension Engine {
    /// Starts a challenge, verifies an answer, or polls a pending push.
    /// - Returns: The state; or a refusal: `E0000068` for a wrong answer, `E0000007` for an unknown factor, or the code of an exceeded
    ///   limit.
    package func classicVerify(
        factorID: String, _ proof: ClassicProof, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, asksForPush: factorID.hasPrefix(PushMethod.idPrefix), context: context) { [self] state, view in
            try step(factorID, proof, state, view)
        } check: { [self] state, step in
            if case .factor(let step) = step { try check(step, state) } else { nil }
        } decide: { [self] state, step, verdict in
            switch step {
            case .factor(let step): try plan(step, proof, verdict?.get(), state)
            case .challenge(let passkeys): try state.challenge(passkeys, selecting: factorID)
            case .assertion(let assertion, let passkeys):
                try state.answer(assertion, of: passkeys, remembers: proof.remembersDevice)
            }
        }
    }

    private func step(_ name: String, _ proof: ClassicProof, _ state: ClassicState, _ view: any StoreView) throws -> VerifyStep {
        guard let passkeys = try state.passkeys(named: name) else {
            let factor = try state.presentable(name)
            return .factor(FactorStep(factor: factor, action: try action(on: factor, proof, state, view)))
        }
        guard let assertion = proof.assertion else { return .challenge(passkeys) }
        try countClassicAttempt(state)
        return .assertion(assertion, passkeys)
    }

    /// Sends a code or a push again.
    /// - Returns: The state; or a refusal: `E0000079` unless the user selected this factor, or that of a push or code that cannot be sent.
    package func classicResend(
        factorID: String, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, asksForPush: factorID.hasPrefix(PushMethod.idPrefix), context: context) { [self] state, view in
            let factor = try state.presentable(factorID)
            guard state.classic.selected == factorID, factor.push != nil || factor.sentCode != nil else {
                throw ClassicRefusal.notAllowed(in: "resend")
            }
            if factor.sentCode != nil { return FactorStep(factor: factor, action: .sendCode) }
            // If the device has approved already, the approval counts and no other push is sent.
            if state.transaction.challenge?.approver != nil { return FactorStep(factor: factor, action: .poll) }
            // As on the hosted pages, a recent push is not replaced, because the user may be reading it.
            if state.transaction.isChallengeYoung(at: context.now) { return FactorStep(factor: factor, action: .show) }
            return FactorStep(factor: factor, action: .sendPush(try challenge(factor, state, view)))
        } decide: { [self] state, step in
            try plan(step, ClassicProof(), nil, state)
        }
    }

    /// Counts a poll, once per request; throws ``ClassicRefusal`` over the limit. Clients poll every three to five seconds
    /// (Documentation/Protocol/Authn.md §2.5); the limit admits one poll per second.
    func countPoll(_ state: ClassicState) throws(ClassicRefusal) {
        guard !state.isRepeated else { return }
        let polls = rateLimiter.count(.polls(state.transaction.id), limit: 60, now: state.context.now)
        guard polls.isAdmitted else { throw .tooManyRequests(polls, reason: "polls of one sign-in") }
    }

    private func action(
        on factor: Enrollment, _ proof: ClassicProof, _ state: ClassicState, _ view: any StoreView
    ) throws -> FactorStep.Action {
        if factor.push != nil {
            // The result of a push is reported once; a later request asks for another push.
            let isTold = state.transaction.reportedChallenge == state.transaction.challengeCount
            guard state.classic.selected == factor.classicID, !isTold, state.result(of: factor, in: state.transaction) != nil else {
                return .sendPush(try challenge(factor, state, autoPush: proof.autoPush, view))
            }
            try countPoll(state)
            return .poll
        }
        guard let response = proof.response(to: factor) else { return factor.sentCode == nil ? .select : .sendCode }
        try countClassicAttempt(state)
        return .answer(response)
    }

    private func plan(
        _ step: FactorStep, _ proof: ClassicProof, _ verdict: FactorVerdict?, _ state: ClassicState
    ) throws -> ClassicPlan {
        switch step.action {
        case .show: try state.show(state.transaction)
        case .select: try state.select(step.factor)
        case .sendCode: try sendCode(to: step.factor, state)
        case .sendPush(let challenge): try sendPush(challenge, state)
        case .poll: try state.poll(step.factor, proof)
        case .answer(let response):
            try answer(response, to: step.factor, verdict, state, remembers: proof.remembersDevice)
        }
    }

    /// Returns the slow check of an answer; `nil` for requests without an answer, and for factors that need no slow check.
    private func check(_ step: FactorStep, _ state: ClassicState) throws -> Check<Result<FactorVerdict, ClassicRefusal>>? {
        guard case .answer(let response) = step.action else { return nil }
        let factor = step.factor
        if let token = factor.token, case .code(let passCode) = response { return try check(passCode, of: token, state) }
        if factor.savedCodes != nil { return state.check(response, by: savedCodesVerifier(state)) }
        guard factor.question != nil else { return nil }
        let verifier = QuestionVerifier(environment: environment, enrollments: state.enrollments, origin: state.subject.origin)
        return state.check(response, by: verifier)
    }

    private func answer(
        _ response: FactorResponse, to factor: Enrollment, _ verdict: FactorVerdict?, _ state: ClassicState, remembers: Bool
    ) throws -> ClassicPlan {
        let (policy, user, now) = (state.snapshot.passwordPolicy, state.user.value, state.context.now)
        if let token = factor.token {
            return try state.answered(verdict ?? .failed, by: TokenVerifier(token: token), remembers: remembers)
        }
        if factor.question != nil {
            let verifier = QuestionVerifier(environment: environment, enrollments: state.enrollments, origin: state.subject.origin)
            return try state.answered(verdict ?? .failed, by: verifier, remembers: remembers)
        }
        if factor.savedCodes != nil {
            return try state.answered(verdict ?? .failed, by: savedCodesVerifier(state), remembers: remembers)
        }
        if let method = factor.sentCode {
            if let until = method.closedUntil(at: now) {
                throw ClassicRefusal(.tooMany(method.channel, until: until), context: state.context)
            }
            let verifier = CodeVerifier(
                environment: environment, channel: method.channel, enrollments: state.enrollments, owner: state.transaction.id, now: now)
            return try state.answered(verifier.verify(response, of: user, policy: policy), by: verifier, remembers: remembers)
        }
        if factor.hotp != nil {
            let verifier = HOTPVerifier(environment: environment, enrollment: factor, derivedKeys: state.snapshot.derivedKeys)
            let (verdict, match) = try verifier.judge(response, of: user)
            // `E0000083` (Documentation/Protocol/Authn.md §4.7) does not apply to counters. A code of a later counter gets the refusal of a
            // wrong code. Otherwise an attacker could guess a later code now and use it when it becomes valid.
            return try state.answered(verdict, by: verifier, remembers: remembers, wrong: match == .used ? .replayedCode : .wrongCode)
        }
        guard factor.totp != nil else { throw ClassicRefusal.unknownFactor }
        let verifier = TOTPVerifier(environment: environment, enrollments: state.enrollments.filter { $0.id == factor.id }, now: now)
        let verdict = try verifier.verify(response, of: user, policy: policy)
        let wrong = try verdict == .failed ? state.refusal(of: response, factor) : .wrongCode
        return try state.answered(verdict, by: verifier, remembers: remembers, wrong: wrong)
    }

    private func savedCodesVerifier(_ state: ClassicState) -> SavedCodesVerifier {
        SavedCodesVerifier(environment: environment, enrollments: state.enrollments, origin: state.subject.origin)
    }

    /// Plans a push to the device of a factor; throws ``ClassicRefusal``.
    private func challenge(
        _ factor: Enrollment, _ state: ClassicState, autoPush: Bool? = nil, _ view: any StoreView
    ) throws -> PlannedChallenge {
        var start = ChallengeStart(stored: state.stored, user: state.user, type: "")
        start.enrollmentID = factor.id
        start.transaction = start.transaction.extended(now: state.context.now) ?? start.transaction
        start.transaction.classic?.selected = factor.classicID
        start.transaction.passkeyChallenge = nil
        start.transaction.classic?.autoPushChoice = autoPush ?? state.classic.autoPushChoice
        do {
            return try plan(start, application: state.application, snapshot: state.snapshot, context: state.context, view)
        } catch let refusal as Refusal {
            throw ClassicRefusal.factorFailed(refusal)
        }
    }

    private func sendPush(_ planned: PlannedChallenge, _ state: ClassicState) throws -> ClassicPlan {
        let step = planned.start.transaction.step(.challenged(planned.plan.challenge, planned.subject), now: state.context.now)
        guard case .challenged = step.1 else { return try state.conclude(step, wrong: .wrongCode) }
        return try commitment(of: planned, context: state.context).map { started in
            switch started {
            case .failure(let refusal): .failure(.factorFailed(refusal))
            case .success: state.shown(step.0)
            }
        }
    }

    /// Plans a message with a new code. The previous code becomes invalid.
    private func sendCode(to factor: Enrollment, _ state: ClassicState) throws -> ClassicPlan {
        do {
            let request = CodeRequest(purpose: .signIn, owner: state.transaction.id, applicationName: nil)
            let prepared = try prepareCode(
                request, for: factor, of: state.user.value, snapshot: state.snapshot, context: state.context)
            return try state.select(factor, prepared.writes)
        } catch let refusal as CodeRefusal {
            throw ClassicRefusal(refusal, context: state.context)
        }
    }
}

extension ClassicState {
    func check(_ response: FactorResponse, by verifier: some FactorVerifier) -> Check<Result<FactorVerdict, ClassicRefusal>> {
        let (user, policy) = (user.value, snapshot.passwordPolicy)
        return Check(of: enrollments.filter { $0.factor == verifier.kind }) {
            try await verifier.verify(response, of: user, policy: policy)
        }.refusingOverload(context)
    }

    /// Plans the selection of a factor. A pending push and the challenge of a passkey become invalid.
    fileprivate func select(_ factor: Enrollment, _ writes: Writes = Writes()) throws -> ClassicPlan {
        var next = transaction
        let closing = next.closingChallenge
        next.withdrawChallenge(now: context.now)
        next.classic?.selected = factor.classicID
        next.passkeyChallenge = nil
        return try show(next, writes: Writes(closing) + writes)
    }

    /// Plans the step of a poll for the answer to a push.
    fileprivate func poll(_ factor: Enrollment, _ proof: ClassicProof) throws -> ClassicPlan {
        guard let challenge = transaction.challenge, !challenge.isOpen(at: context.now) else { return try show(transaction) }
        // An approval does not count if its device was removed or became untrusted since then.
        let subject = challenge.approver != nil && approver == nil ? nil : subject
        var step = transaction.step(.polled(subject), now: context.now)
        var writes = Writes(transaction.closingChallenge)
        if case .tryAgain = step.1 {
            writes += try Writes(step.2, of: step.0, user: nil)
            step.0.classic?.selected = factor.classicID
            return try show(step.0, writes: writes)
        }
        // A concurrent change of the enrollment causes a conflict.
        if let approver { writes += [approver.unchanged] }
        let plan = try conclude(step, writes: writes, remembers: proof.remembersDevice, wrong: .wrongCode)
        guard let choice = proof.autoPush ?? classic.autoPushChoice else { return plan }
        return plan.answering { $0.autoPush = classic.autoPush(of: factor.classicID, set: choice) }
    }

    /// Returns the refusal of a wrong code of an authenticator app. Used and expired codes have their own refusals.
    fileprivate func refusal(of response: FactorResponse, _ factor: Enrollment) throws -> ClassicRefusal {
        guard case .code(let code) = response, let totp = factor.totp else { return .wrongCode }
        let secret = try totp.secret(ofEnrollment: factor.id, environment: environment)
        if TimeBasedCode.step(ofTyped: code, secret: secret, now: context.now, after: nil) != nil { return .replayedCode }
        // A code of a later time step gets the refusal of a wrong code. Otherwise an attacker could guess a later code now and use it when
        // it becomes valid.
        return TimeBasedCode.isPast(code, secret: secret, now: context.now) ? .lateCode : .wrongCode
    }
}

extension ClassicSignIn {
    /// The maximum number of automatic push factors that a browser stores.
    static let mostAutoPush = 10

    /// Returns the browser's new list of automatic push factors.
    fileprivate func autoPush(of factorID: String, set isOn: Bool) -> [String] {
        let others = (autoPush ?? []).filter { $0 != factorID }
        return Array((isOn ? others + [factorID] : others).suffix(Self.mostAutoPush))
    }
}

extension ClassicState {
    /// Returns the factor with this id; throws ``ClassicRefusal`` if the user cannot present it now.
    func presentable(_ factorID: String) throws(ClassicRefusal) -> Enrollment {
        try requirePresenting()
        guard let factor = presentable.first(where: { $0.classicID == factorID }) else { throw .unknownFactor }
        return factor
    }

    /// Checks that the sign-in asks for a factor; throws ``ClassicRefusal`` otherwise.
    func requirePresenting() throws(ClassicRefusal) { try require(.factorRequired, .factorChallenge) }
}
