/// One call of a flow. It is decided once: by its work, by the cancelling of its task, or by a call or a reset that supersedes it,
/// whichever comes first.
///
/// The caller waits for the decision and not for the work, so that it leaves at once even while a request is on its way. Safe from any
/// thread or task.
package final class FlowCall<Value: Sendable>: Sendable {
    private struct State {
        var decision: Result<Value, any Error>?
        var caller: CheckedContinuation<Value, any Error>?
        var work: Task<Void, Never>?
    }

    private let background: BackgroundWork
    private let state = Locked(State())

    /// - Parameter background: Where the work goes on when the caller has left.
    package init(background: BackgroundWork = BackgroundWork()) {
        self.background = background
    }

    /// Does the work in a task of its own, and waits for the decision.
    ///
    /// - Parameters:
    ///   - work: What decides the call if nothing else does before. It is cancelled as soon as something else has.
    ///   - late: Is given the value that the work brought when the call was decided already.
    /// - Returns: The value.
    /// - Throws: What the work threw; `CancellationError` if the calling task was cancelled; what ``leave(_:)`` was given.
    package func value(
        of work: @escaping @Sendable () async throws -> Value, late: @escaping @Sendable (Value) -> Void = { _ in }
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            begin(work, late: late)
            return try await withCheckedThrowingContinuation { caller in
                let decision = state.withLock { state in
                    if state.decision == nil { state.caller = caller }
                    return state.decision
                }
                if let decision { caller.resume(with: decision) }
            }
        } onCancel: {
            leave(CancellationError())
        }
    }

    /// Decides the call by an error, unless it is decided, and cancels the work.
    package func leave(_ error: any Error) {
        guard decide(.failure(error)) else { return }
        state.withLock { $0.work }?.cancel()
    }

    private func begin(_ work: @escaping @Sendable () async throws -> Value, late: @escaping @Sendable (Value) -> Void) {
        guard state.withLock({ $0.decision == nil }) else { return }
        let task = background.begin { [self] in
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            if !decide(result), case .success(let value) = result { late(value) }
        }
        let isDecided = state.withLock { state in
            state.work = task
            return state.decision != nil
        }
        if isDecided { task.cancel() }
    }

    /// - Returns: Whether it was not decided before.
    private func decide(_ result: Result<Value, any Error>) -> Bool {
        let (isFirst, caller) = state.withLock { state -> (Bool, CheckedContinuation<Value, any Error>?) in
            guard state.decision == nil else { return (false, nil) }
            state.decision = result
            defer { state.caller = nil }
            return (true, state.caller)
        }
        caller?.resume(with: result)
        return isFirst
    }
}
