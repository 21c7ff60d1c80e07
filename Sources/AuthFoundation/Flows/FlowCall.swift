/// One call of a flow. The first of these events decides it: the end of its work, the cancellation of its task, or a later call or reset.
/// The caller waits for the decision, not for the work, so it can return at once even while a request is running. Safe from any thread or
/// task.
package final class FlowCall<Value: Sendable>: Sendable {
    private struct State {
        var decision: Result<Value, any Error>?
        var caller: CheckedContinuation<Value, any Error>?
        var work: Task<Void, Never>?
    }

    private let background: BackgroundWork
    private let state = Locked(State())

    /// - Parameter background: Runs the work, also after the caller has returned.
    package init(background: BackgroundWork = BackgroundWork()) {
        self.background = background
    }

    /// Runs the work in a new task and waits for the decision. Another decision cancels the work.
    /// - Parameter late: Receives the result of the work if the call was already decided.
    /// - Throws: The error of the work; `CancellationError` if the calling task was cancelled; the error passed to ``leave(_:)``.
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

    /// Decides the call with an error and cancels the work. No-op if the call is already decided.
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

    /// Returns whether this was the first decision.
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
