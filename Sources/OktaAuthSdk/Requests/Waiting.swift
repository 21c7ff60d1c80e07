internal import AuthFoundation

extension MainQueue {
    /// Waits for a call that calls back.
    ///
    /// - Parameter start: Makes the call with the two closures that it is given. The first that is called counts. If both are let go uncalled,
    ///   as after a transaction was cancelled, the wait ends too.
    /// - Returns: What the first closure was called with.
    /// - Throws: What the second closure was called with; `CancellationError` if the task was cancelled, or nobody will call.
    @MainActor
    static func value<Value>(
        _ start: (_ onValue: @escaping (Value) -> Void, _ onError: @escaping (OktaError) -> Void) -> Void
    ) async throws -> Value {
        let wait = AnswerWait<Value>()
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                wait.begin(continuation)
                let caller = Caller(wait)
                start({ caller.wait.end(.success(Parcel($0))) }, { caller.wait.end(.failure($0)) })
                // A cancellation that came before this found nobody waiting.
                if Task.isCancelled { wait.end(.failure(CancellationError())) }
            }
        } onCancel: {
            wait.end(.failure(CancellationError()))
        }
        .contents
    }

    /// Is held by the closures that are to be called, and by nobody else.
    private final class Caller<Value> {
        let wait: AnswerWait<Value>

        init(_ wait: AnswerWait<Value>) {
            self.wait = wait
        }

        deinit {
            wait.end(.failure(CancellationError()))
        }
    }
}

/// Somebody who waits for an answer, and is told once. Safe from any thread.
private final class AnswerWait<Value>: Sendable {
    private let continuation = Locked<CheckedContinuation<Parcel<Value>, any Error>?>(nil)

    func begin(_ continuation: CheckedContinuation<Parcel<Value>, any Error>) {
        self.continuation.withLock { $0 = continuation }
    }

    func end(_ result: Result<Parcel<Value>, any Error>) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(with: result)
    }
}
