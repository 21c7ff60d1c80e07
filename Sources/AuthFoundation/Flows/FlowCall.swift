/// One call of a flow. The first of these events decides the call: the end of its work, the cancellation of its task, or a later call or
/// reset. The caller waits for the decision, not for the work, so it can return at once even while a request is running. Safe from any
/// thread or task.
package final class FlowCall<Value: Sendable>: Sendable {
    private let background: BackgroundWork
    private let decision = Decision<Value>()
    private let work = Locked<Task<Void, Never>?>(nil)

    /// Creates a call that is not decided yet.
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
            return try await decision.value()
        } onCancel: {
            leave(CancellationError())
        }
    }

    /// Decides the call with an error and cancels the work. No-op if the call is already decided.
    package func leave(_ error: any Error) {
        guard decision.decide(.failure(error)) else { return }
        work.withLock { $0 }?.cancel()
    }

    private func begin(_ work: @escaping @Sendable () async throws -> Value, late: @escaping @Sendable (Value) -> Void) {
        guard decision.result == nil else { return }
        let task = background.begin { [self] in
            let result = await Result(of: work)
            if !decision.decide(result), case .success(let value) = result { late(value) }
        }
        self.work.exchange(task)
        // A decision before the exchange found no work to cancel.
        if decision.result != nil { task.cancel() }
    }
}
