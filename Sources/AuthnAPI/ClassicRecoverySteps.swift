internal import Foundation
package import IdentityCore
internal import Store

/// The steps of a recovery (Documentation/Protocol/Authn.md §4.4, §4.11 and §4.12).
extension Engine {
    /// Checks the code that was sent.
    /// - Returns: The state; or a refusal: `E0000068` for a wrong code, `E0000069` after too many wrong codes.
    package func classicRecoveryVerify(
        passCode: String?, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await step(passCode.map { .code($0) }, needs: "passCode", at: .recoveryChallenge, of: stateToken, context: context)
    }

    /// Sends the code again. If no code can be sent, the response is the same.
    /// - Returns: The state; or a refusal: `E0000079` if the recovery awaits no code, or a limit.
    package func classicRecoveryResend(
        stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await step(.resend, at: .recoveryChallenge, of: stateToken, context: context)
    }

    /// Exchanges the single-use token that was mailed, or given to a back end, for the state of the recovery. Refuses an invalid token
    /// (`E0000011`). With `enrollsOptional`, the sign-in also offers optional factors.
    package func classicRecoveryToken(
        _ token: String, enrollsOptional: Bool = false, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await exchange(.recoveryToken, token, context: context, admit: { _ in }) { transaction, _ in
            if enrollsOptional { transaction.rules.insert(.offersOptionalFactors) }
        }
    }

    /// Exchanges a single-use token for a sign-in, which starts with this exchange.
    /// - Parameters:
    ///   - admit: Checks the caller by the configuration, before the token.
    ///   - change: Stores what the admitted caller asks of the sign-in.
    func exchange<Admission: Sendable>(
        _ kind: TicketKind, _ token: String, context: RequestContext,
        admit: @escaping @Sendable (OrgSnapshot) throws -> Admission, _ change: (inout SignInTransaction, Admission) -> Void
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        let stateToken = try environment.random.secret(prefix: "00")
        let step = try await transact(context, refusing: ClassicRefusal.self) {
            .classic(token, of: kind, at: context.now)
        } read: { reading in
            let admission = try admit(reading.snapshot)
            let found = try ClassicRefusal.spelling(context) { try RecoveryState(token, of: kind, reading, context: context) }
            let state = try ClassicState(found, token: stateToken, view: reading.view, environment: reading.engine.environment)
            return (state: state, admission: admission)
        } decide: { found in
            let exchanged = try ClassicRefusal.spelling(context) {
                try found.state.base.exchanged(kind, token, for: stateToken) { change(&$0, found.admission) }
            }
            return try found.state.conclude(exchanged)
        }
        return try await finish(step, context: context)
    }

    /// Checks the answer to the user's security question.
    /// - Returns: The state; or a refusal: `E0000087` for a wrong answer, `E0000069` after too many wrong answers.
    package func classicRecoveryAnswer(
        _ answer: String?, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await step(answer.map { .answer($0) }, needs: "answer", at: .recovery, of: stateToken, context: context)
    }

    /// Sets a new password in place of a forgotten one, and continues the sign-in. Refuses an unacceptable password (`E0000080`).
    package func classicResetPassword(
        to new: String, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await step(.password(new), at: .passwordReset, of: stateToken, context: context)
    }

    /// Runs a step. After its commit, counts a wrong guess against the limit of the organization.
    private func step(
        _ input: RecoveryInput?, needs member: String = "", at status: ClassicTransaction.Status, of stateToken: String,
        context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        let answer = try await classicStep(stateToken, context: context) { [self] state, _ in
            try state.require(status)
            guard let input else { throw ClassicRefusal.missing(member) }
            try ClassicRefusal.spelling(context) { try admit(input, state.base) }
            return input
        } check: { [self] state, input in
            check(input, state.base)?.refusingOverload(context)
        } decide: { [self] state, input, verdict in
            let verdict = try verdict?.get()
            return try state.conclude(ClassicRefusal.spelling(context) { try decide(input, verdict, state.base) })
        }
        if case .failure(let refusal) = answer, let guess = refusal.guess {
            reportGuess(guess)
        }
        return answer
    }
}

extension ClassicState {
    fileprivate func conclude(_ decision: RecoveryDecision) throws -> ClassicPlan {
        // Sending a code again does not change the recovery.
        guard decision.step.0 != transaction else {
            return try show(transaction, writes: decision.writes)
        }
        return try conclude(decision.step, writes: decision.writes, wrong: ClassicRefusal(decision.wrong, context: context)).map { answer in
            answer.mapError { refusal in
                var refusal = refusal
                refusal.guess = decision.wrong.guess
                return refusal
            }
        }
    }
}

extension ClassicRefusal {
    /// Runs a part of a recovery, and converts its refusal to this API's form.
    static func spelling<Value>(_ context: RequestContext, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let refusal as RecoveryRefusal { throw ClassicRefusal(refusal, context: context) }
    }

    init(_ refusal: RecoveryRefusal, context: RequestContext) {
        switch refusal {
        case .notEnabled: self = .notEnabled
        case .over(let reason): self = .invalidToken(reason)
        case .otherStage: self = .notAllowed(in: "recovery")
        case .noChannel: self = .invalid("recoveryRequest", ["factorType: The member must be EMAIL, SMS or CALL."])
        case .tooManyAttempts(let status, let reason): self = .tooManyRequests(status, reason: reason)
        case .paced(let refusal): self.init(refusal, context: context)
        case .busy: self = .busy(context)
        case .wrongCode:
            self.init(
                code: "E0000068", status: 403, summary: "Invalid Passcode/Answer",
                causes: ["The token does not match. Check the code and try again."], reason: "recovery: wrong code")
        case .wrongAnswer:
            self.init(
                code: "E0000087", status: 403, summary: "The answer to the recovery question is wrong.", reason: "recovery: wrong answer")
        case .unacceptablePassword(let rules):
            self.init(
                code: "E0000080", status: 403, summary: "The password does not meet the requirements.",
                causes: [rules.map(\.violation).joined(separator: " ")], reason: "authn: password rules")
        case .unknownUser:
            self.init(code: "E0000095", status: 403, summary: "There is no such user to recover.", reason: "recovery: unknown user")
        case .closedAccount(let kind):
            self.init(
                code: kind == .unlock ? "E0000032" : "E0000034", status: 403,
                summary: kind == .unlock ? "This account cannot be unlocked." : "This account cannot be recovered.",
                reason: "recovery: not allowed")
        }
        guess = refusal.guess
    }
}
