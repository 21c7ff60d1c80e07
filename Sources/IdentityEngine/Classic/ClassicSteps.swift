internal import Foundation

/// The steps that concern no particular factor (authn reference 4.13 and 4.14).
extension IdentityEngine {
    /// Returns the current state and extends the expiry.
    ///
    /// - Parameters:
    ///   - stateToken: The state token of the sign-in.
    ///   - context: The request.
    /// - Returns: The state; or `E0000011` if the sign-in is over.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicTransaction(stateToken: String, context: RequestContext) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { try $0.show($0.transaction) }
    }

    /// Returns to the choice of a factor. A pending push becomes invalid; a factor whose setup was begun is removed.
    ///
    /// - Parameters:
    ///   - stateToken: The state token of the sign-in.
    ///   - context: The request.
    /// - Returns: The state; or a refusal: `E0000011`, or `E0000079` if there is no previous step.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicPrevious(stateToken: String, context: RequestContext) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { state in
            try state.require(.factorChallenge, .factorEnrollActivate)
            var next = state.transaction
            var closing: [Change] = []
            if state.status(of: next) == .factorChallenge {
                closing = next.closingChallenge
                next.withdrawChallenge(now: context.now)
                next.classic?.selected = nil
            } else {
                closing = [state.pending?.enrollment.removal].compactMap(\.self) + next.closingPhone
                next.classic?.enrolling = nil
                next.phone = nil
            }
            return try state.show(next, writes: Writes(closing))
        }
    }

    /// Continues without an optional step.
    ///
    /// - Parameters:
    ///   - stateToken: The state token of the sign-in.
    ///   - context: The request.
    /// - Returns: The state; or a refusal: `E0000011`, or `E0000079` if the step is required.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicSkip(stateToken: String, context: RequestContext) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { state in
            switch state.asked {
            case .passwordDue(.endsSoon):
                return try state.conclude(state.transaction.step(.passwordKept(state.subject), now: context.now), wrong: .wrongCode)
            case .enrollmentOffered(canSkip: true) where state.status(of: state.transaction) == .factorEnroll:
                var next = state.transaction
                next.classic?.skipsEnrollment = true
                return try state.show(next)
            default: throw ClassicRefusal.notAllowed(in: state.status(of: state.transaction)?.rawValue ?? "none")
            }
        }
    }

    /// Cancels the sign-in: its state token becomes invalid, and a later push approval has no effect.
    ///
    /// - Parameters:
    ///   - stateToken: The state token of the sign-in.
    ///   - context: The request.
    /// - Returns: The relay state; or `E0000011` if the sign-in is over.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicCancel(stateToken: String, context: RequestContext) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { state in
            let (next, _, effects) = state.transaction.step(.cancelled, now: context.now)
            let changes = [try state.stored.writing(next), .closeTickets(of: RecordReference(.transaction, next.id))]
            let answer = ClassicStepAnswer(.shown(.cancelled(relayState: state.classic.relayState)))
            return Plan(.success(answer), try Writes(effects, of: next, user: nil) + changes)
        }
    }
}
