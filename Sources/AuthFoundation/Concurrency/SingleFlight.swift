/// A call combiner: concurrent calls for one key share one operation. The operation runs in its own task, with the task-local values of the
/// first caller. A cancelled caller ends only its own wait, with `CancellationError`. Results are not cached: after an operation has ended,
/// the next call starts it again, even if it succeeded. Safe from any task or thread. Waiting does not block a thread.
package final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private enum Waiter {
        /// The caller is registered, but has no continuation yet.
        case arriving
        case waiting(CheckedContinuation<Value, any Error>)
        /// The result arrived before the continuation.
        case settled(Result<Value, any Error>)
    }

    private struct Flight {
        let number: UInt64
        var task: Task<Void, Never>?
        var waiters: Set<UInt64> = []
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var waiters: [UInt64: Waiter] = [:]
        var count: UInt64 = 0

        mutating func next() -> UInt64 {
            count += 1
            return count
        }
    }

    private let state = Locked(State())
    private let endsWhenAbandoned: Bool

    /// Creates an instance. If `endsWhenAbandoned` is true, an operation is cancelled as soon as no caller waits for it. Use false if the
    /// result must not be lost: the server may have performed a refresh already.
    package init(endsWhenAbandoned: Bool = false) {
        self.endsWhenAbandoned = endsWhenAbandoned
    }

    /// Whether an operation for this key is running.
    package func isRunning(_ key: Key) -> Bool {
        state.withLock { $0.flights[key] != nil }
    }

    /// Returns the number of callers that wait for the operation of this key.
    package func waiters(for key: Key) -> Int {
        state.withLock { $0.flights[key]?.waiters.count ?? 0 }
    }

    /// Returns the result of the operation for `key`, and starts `operation` if none is running.
    /// - Throws: The error of the operation, or `CancellationError` if the calling task was cancelled.
    package func value(for key: Key, operation: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let waiter = enter(key, operation: operation)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let settled: Result<Value, any Error>? = state.withLock { state in
                    if case .settled(let result)? = state.waiters[waiter] {
                        state.waiters[waiter] = nil
                        return result
                    }
                    state.waiters[waiter] = .waiting(continuation)
                    return nil
                }
                if let settled { continuation.resume(with: settled) }
            }
        } onCancel: {
            leave(waiter, of: key)
        }
    }

    private func enter(_ key: Key, operation: @escaping @Sendable () async throws -> Value) -> UInt64 {
        let (waiter, toStart): (UInt64, UInt64?) = state.withLock { state in
            let waiter = state.next()
            state.waiters[waiter] = .arriving
            if state.flights[key] != nil {
                state.flights[key]?.waiters.insert(waiter)
                return (waiter, nil)
            }
            let number = state.next()
            state.flights[key] = Flight(number: number, waiters: [waiter])
            return (waiter, number)
        }
        if let number = toStart {
            let task = Task { [self] in
                let result = await Result(of: operation)
                settle(key, number: number, with: result)
            }
            let isAbandoned = state.withLock { state in
                guard state.flights[key]?.number == number else { return false }
                state.flights[key]?.task = task
                return endsWhenAbandoned && state.flights[key]?.waiters.isEmpty == true
            }
            if isAbandoned { task.cancel() }
        }
        return waiter
    }

    private func settle(_ key: Key, number: UInt64, with result: Result<Value, any Error>) {
        let continuations: [CheckedContinuation<Value, any Error>] = state.withLock { state in
            guard let flight = state.flights[key], flight.number == number else { return [] }
            state.flights[key] = nil
            var waiting: [CheckedContinuation<Value, any Error>] = []
            for waiter in flight.waiters {
                switch state.waiters[waiter] {
                case .waiting(let continuation):
                    state.waiters[waiter] = nil
                    waiting.append(continuation)
                case .arriving:
                    state.waiters[waiter] = .settled(result)
                case .settled, nil:
                    break
                }
            }
            return waiting
        }
        for continuation in continuations { continuation.resume(with: result) }
    }

    private func leave(_ waiter: UInt64, of key: Key) {
        let (continuation, abandoned): (CheckedContinuation<Value, any Error>?, Task<Void, Never>?) = state.withLock { state in
            var continuation: CheckedContinuation<Value, any Error>?
            switch state.waiters[waiter] {
            case .waiting(let waiting):
                continuation = waiting
                state.waiters[waiter] = nil
            case .arriving:
                state.waiters[waiter] = .settled(.failure(CancellationError()))
            case .settled, nil:
                return (nil, nil)
            }
            guard state.flights[key]?.waiters.remove(waiter) != nil else { return (continuation, nil) }
            guard endsWhenAbandoned, let flight = state.flights[key], flight.waiters.isEmpty else { return (continuation, nil) }
            // The cancelled operation may need time to end. A new caller must not receive its `CancellationError`.
            if flight.task != nil { state.flights[key] = nil }
            return (continuation, flight.task)
        }
        abandoned?.cancel()
        continuation?.resume(throwing: CancellationError())
    }
}
