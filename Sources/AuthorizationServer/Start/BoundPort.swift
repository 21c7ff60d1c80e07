internal import NIOConcurrencyHelpers

/// The bound port, as a value that tasks can await. Safe from any task.
package final class BoundPort: Sendable {
    private enum State {
        case waiting(next: Int, [Int: CheckedContinuation<Int, any Error>])
        case bound(Int)
        case failed(any Error)
    }

    private let state = NIOLockedValueBox(State.waiting(next: 0, [:]))

    /// The port; waits until it is bound.
    var value: Int {
        get async throws {
            let ticket = state.withLockedValue { state -> Int in
                guard case .waiting(let next, let waiting) = state else { return 0 }
                state = .waiting(next: next + 1, waiting)
                return next
            }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let known = state.withLockedValue { state -> Result<Int, any Error>? in
                        switch state {
                        case .bound(let port): return .success(port)
                        case .failed(let error): return .failure(error)
                        case .waiting(let next, var waiting):
                            if Task.isCancelled { return .failure(CancellationError()) }
                            waiting[ticket] = continuation
                            state = .waiting(next: next, waiting)
                            return nil
                        }
                    }
                    if let known { continuation.resume(with: known) }
                }
            } onCancel: {
                let abandoned = state.withLockedValue { state -> CheckedContinuation<Int, any Error>? in
                    guard case .waiting(let next, var waiting) = state else { return nil }
                    let continuation = waiting.removeValue(forKey: ticket)
                    state = .waiting(next: next, waiting)
                    return continuation
                }
                abandoned?.resume(throwing: CancellationError())
            }
        }
    }

    func bind(_ port: Int) { settle(.bound(port), .success(port)) }

    /// Makes ``value`` throw; a no-op after ``bind(_:)`` or an earlier failure.
    func fail(with error: any Error) { settle(.failed(error), .failure(error)) }

    private func settle(_ outcome: State, _ result: Result<Int, any Error>) {
        let waiting = state.withLockedValue { state -> [CheckedContinuation<Int, any Error>] in
            guard case .waiting(_, let waiting) = state else { return [] }
            state = outcome
            return Array(waiting.values)
        }
        for continuation in waiting { continuation.resume(with: result) }
    }
}
