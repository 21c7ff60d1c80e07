internal import Foundation

/// What a client does with a state token, whatever factor it is about (authn reference 4.13 and 4.14).
extension IdentityEngine {
    /// Says where a sign-in stands. Nothing else changes, but that its end is put off.
    ///
    /// - Parameters:
    ///   - stateToken: Leads to it.
    ///   - context: When and from where it came.
    /// - Returns: Where it stands; or `E0000011` if it is over.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicTransaction(stateToken: String, context: RequestContext) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { [self] state in
            try await show(state.transaction, of: state, context: context)
        }
    }

    /// Goes back to the choice of a factor. What the person's devices were asked can be answered no more, what was begun to be set up is
    /// dropped.
    ///
    /// - Parameters:
    ///   - stateToken: Leads to the sign-in.
    ///   - context: When and from where it came.
    /// - Returns: Where it stands; or a refusal: `E0000011`, or `E0000079` where there is no way back.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicPrevious(stateToken: String, context: RequestContext) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { [self] state in
            var next = state.transaction
            var closing: [Change] = []
            switch state.status(of: state.transaction) {
            case .factorChallenge?:
                closing = next.closingChallenge
                next.withdrawChallenge(now: context.now)
                next.classic?.selected = nil
            case .factorEnrollActivate?:
                if let dropped = state.pending?.enrollment {
                    closing = [.remove(.enrollment, id: dropped.id, version: dropped.version)]
                }
                closing += next.closingPhone
                next.classic?.enrolling = nil
                next.phone = nil
            case let other: throw ClassicRefusal.notAllowed(in: other?.rawValue ?? "none")
            }
            return try await show(next, of: state, closing: closing, context: context)
        }
    }

    /// Goes on without what is only offered.
    ///
    /// - Parameters:
    ///   - stateToken: Leads to the sign-in.
    ///   - context: When and from where it came.
    /// - Returns: Where it stands; or a refusal: `E0000011`, or `E0000079` where something is asked for.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicSkip(stateToken: String, context: RequestContext) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { [self] state in
            switch state.asked {
            case .passwordDue(.endsSoon):
                let (next, outcome, effects) = state.transaction.step(.passwordKept(state.subject), now: context.now)
                return try await conclude(next, outcome, effects, state, wrong: .wrongCode, context: context)
            case .enrollmentOffered(canSkip: true) where state.status(of: state.transaction) == .factorEnroll:
                var next = state.transaction
                next.classic?.skipsEnrollment = true
                return try await show(next, of: state, context: context)
            default: throw ClassicRefusal.notAllowed(in: state.status(of: state.transaction)?.rawValue ?? "none")
            }
        }
    }

    /// Gives a sign-in up: its token leads nowhere from then on, and an approval that comes later signs nobody in.
    ///
    /// - Parameters:
    ///   - stateToken: Leads to the sign-in.
    ///   - context: When and from where it came.
    /// - Returns: What the client gave at the beginning; or `E0000011` if it is over.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicCancel(stateToken: String, context: RequestContext) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { [self] state in
            let (next, _, effects) = state.transaction.step(.cancelled, now: context.now)
            let log = try logEntries(effects, userID: next.userID, of: next, context: context)
            let changes = [try state.stored.writing(next), .closeTickets(of: RecordReference(.transaction, next.id))]
            guard try await store.commit(log + changes) == .committed else { return nil }
            return ClassicAnswer(.cancelled(relayState: state.classic.relayState))
        }
    }

    // MARK: - What is common

    /// Reads a sign-in and takes a step, again as long as somebody else is faster (the step returns nil).
    func classicStep(
        _ token: String, browser: String? = nil, context: RequestContext, _ step: (ClassicState) async throws -> ClassicAnswer?
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await Result {
            for _ in 0..<Self.attempts {
                let state = try await classicState(token, browser: browser, context: context)
                do {
                    if let answer = try await step(state) { return answer }
                } catch var refusal as ClassicRefusal {
                    if !state.user.value.id.isEmpty { refusal.userID = state.user.value.id }
                    throw refusal
                }
            }
            throw StoreError(.unavailable, "The sign-in met other writers \(Self.attempts) times. Try it again.")
        }
    }
}
