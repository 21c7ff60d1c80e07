internal import AuthFoundation

extension MainQueue {
    /// Starts a call with closures and waits for its result.
    /// - Parameter start: Starts the call with the two closures. The first one called decides. If both are released uncalled, as after a
    ///   cancelled transaction, the wait also ends.
    /// - Throws: The error of the second closure; `CancellationError` if the task was cancelled or both closures were released.
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
                // A cancellation before `begin` found no continuation to resume.
                if Task.isCancelled { wait.end(.failure(CancellationError())) }
            }
        } onCancel: {
            wait.end(.failure(CancellationError()))
        }
        .contents
    }

    /// Retained only by the two closures, so that its deinitialization means that neither can be called.
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

/// A continuation that is resumed once. Thread-safe.
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
