internal import Foundation
internal import IdentityCore
internal import Store

/// The plan of a step of a classic sign-in.
typealias ClassicPlan = Plan<Result<ClassicStepAnswer, ClassicRefusal>>

/// The answer of a step of a classic sign-in after the commit.
struct ClassicStepAnswer: Sendable {
    enum Outcome: Sendable {
        /// The response to the client.
        case shown(ClassicAnswer.Outcome)
        /// The sign-in continues. The engine reads it again with this state token, and returns the new state.
        case continues(token: String)
    }

    var outcome: Outcome
    /// The new device token of the browser; see ``ClassicAnswer/deviceToken``.
    var deviceToken: String?
    /// The push factors to ask automatically; see ``ClassicAnswer/autoPush``.
    var autoPush: [String]?

    init(_ outcome: Outcome) { self.outcome = outcome }

    init(_ transaction: ClassicTransaction) { outcome = .shown(.transaction(transaction)) }

    fileprivate func answer(showing outcome: ClassicAnswer.Outcome) -> ClassicAnswer {
        var answer = ClassicAnswer(outcome)
        (answer.deviceToken, answer.autoPush) = (deviceToken, autoPush)
        return answer
    }
}

extension ClassicPlan {
    /// Returns the same plan with a changed answer. A refusal stays unchanged.
    func answering(_ change: (inout ClassicStepAnswer) -> Void) -> ClassicPlan {
        map { result in
            result.map { answer in
                var answer = answer
                change(&answer)
                return answer
            }
        }
    }
}

extension Lookup {
    /// The rows of ``ClassicState``.
    static func classic(_ token: String, of kind: TicketKind = .stateToken, asksForPush: Bool = false, at now: Date) -> Lookup {
        guard kind == .stateToken else { return .recovery(token, of: kind, at: now, .rememberedDevices) }
        let known =
            asksForPush
            ? Lookup.recovery(token, at: now, .rememberedDevices, .challenges) : .recovery(token, at: now, .rememberedDevices)
        // A recovery of an unknown user name asks for these too.
        let unknown = Node.records(.rememberedDevice, where: "user", is: "", limit: RememberedDevice.listLimit)
        return Lookup(known.nodes + [unknown])
    }
}

/// The steps that a client takes with a state token.
extension Engine {
    /// Runs a step of a classic sign-in. `read`, `check` and `decide` may throw ``ClassicRefusal``.
    /// - Parameters:
    ///   - token: The state token.
    ///   - asksForPush: Whether the step probably sends a push, so that the user's recent pushes are read.
    ///   - read: Counts the attempt, and reads what the step needs in addition to the state.
    ///   - check: Returns the slow check of the step; `nil` for none.
    ///   - decide: Returns the plan of the step.
    func classicStep<Found: Sendable, Verdict: Sendable>(
        _ token: String, asksForPush: Bool = false, context: RequestContext,
        read: @escaping @Sendable (ClassicState, any StoreView) throws -> Found, check: (ClassicState, Found) throws -> Check<Verdict>?,
        decide: (ClassicState, Found, Verdict?) throws -> ClassicPlan
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        var userID: String?
        let step = try await transact(context, refusing: ClassicRefusal.self) { _ in
            .classic(token, asksForPush: asksForPush, at: context.now)
        } read: { reading in
            let state = try ClassicState(token, reading: reading, context: context)
            return (state, Result { try read(state, reading.view) })
        } check: { state, found in
            userID = state.user.value.id
            return try check(state, found.get())
        } decide: { known, verdict in
            try decide(known.0, known.1.get(), verdict)
        }
        return try await finish(step, context: context).mapError { refusal in
            var refusal = refusal
            if let userID, !userID.isEmpty { refusal.userID = userID }
            return refusal
        }
    }

    /// Runs a step without a check.
    func classicStep<Found: Sendable>(
        _ token: String, asksForPush: Bool = false, context: RequestContext,
        read: @escaping @Sendable (ClassicState, any StoreView) throws -> Found, decide: (ClassicState, Found) throws -> ClassicPlan
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(token, asksForPush: asksForPush, context: context, read: read, check: { _, _ -> Check<Never>? in nil }) {
            state, found, _ in try decide(state, found)
        }
    }

    /// Runs a step that depends on the state only.
    func classicStep(
        _ token: String, context: RequestContext, decide: (ClassicState) throws -> ClassicPlan
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(token, context: context, read: { _, _ in }) { state, _ in try decide(state) }
    }

    /// Returns the response to a committed step. If the sign-in continues, reads it again for the response.
    func finish(
        _ step: Result<ClassicStepAnswer, ClassicRefusal>, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        switch step {
        case .failure(let refusal): return .failure(refusal)
        case .success(let step):
            switch step.outcome {
            case .shown(let outcome): return .success(step.answer(showing: outcome))
            case .continues(let token):
                return try await classicStep(token, context: context) { try $0.show($0.transaction) }
                    .map { step.answer(showing: $0.outcome) }
            }
        }
    }
}
