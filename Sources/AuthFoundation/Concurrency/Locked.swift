import Foundation

/// State behind a lock that is held only during a closure. The closure must only compute: it must not call other code, wait or resume a
/// continuation. Invariant that makes `@unchecked Sendable` safe: `value` is private and is accessed only between `lock()` and `unlock()`,
/// so threads cannot access it concurrently. A value that is not `Sendable` must leave the closure only as a copy.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// Replaces the value and returns the old one.
    @discardableResult
    package func exchange(_ new: Value) -> Value {
        withLock { value in
            defer { value = new }
            return value
        }
    }
}

/// A value that is set once, from any thread, and that tasks can wait for.
package final class Decision<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiting: [CheckedContinuation<Value, any Error>] = []
    }

    private let state = Locked(State())

    package init() {}

    /// The result, or `nil` if it is not set yet.
    package var result: Result<Value, any Error>? { state.withLock { $0.result } }

    /// Sets the result. Later calls are no-ops. Returns whether this call set it.
    @discardableResult
    package func decide(_ result: Result<Value, any Error>) -> Bool {
        let (isFirst, waiting) = state.withLock { state -> (Bool, [CheckedContinuation<Value, any Error>]) in
            guard state.result == nil else { return (false, []) }
            state.result = result
            defer { state.waiting = [] }
            return (true, state.waiting)
        }
        for continuation in waiting { continuation.resume(with: result) }
        return isFirst
    }

    /// Waits for the result. Task cancellation does not end the wait.
    package func value() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.waiting.append(continuation) }
                return state.result
            }
            if let result { continuation.resume(with: result) }
        }
    }

    /// Waits for the result. Cancelling the task sets it to `CancellationError`.
    package func valueUnlessCancelled() async throws -> Value {
        try await withTaskCancellationHandler {
            try await value()
        } onCancel: {
            decide(.failure(CancellationError()))
        }
    }
}

extension Result where Failure == any Error {
    /// The outcome of an asynchronous call.
    package init(of work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}
