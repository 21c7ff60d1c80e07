internal import AuthFoundation

/// Something that is decided once, from any thread, and that tasks wait for.
final class Decision<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiting: [CheckedContinuation<Value, any Error>] = []
    }

    private let state = Locked(State())

    /// What was decided; nil if nothing was.
    var result: Result<Value, any Error>? { state.withLock { $0.result } }

    /// Decides it, unless it is decided.
    func decide(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, any Error>] in
            guard state.result == nil else { return [] }
            state.result = result
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    /// Waits for the decision, also in a cancelled task.
    func value() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.waiting.append(continuation) }
                return state.result
            }
            if let result { continuation.resume(with: result) }
        }
    }
}
