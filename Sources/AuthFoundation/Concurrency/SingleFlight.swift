/// Folds concurrent calls for one key into one piece of work.
///
/// The work runs in a task of its own, with the task-local values of the caller that began it, so that a caller that is cancelled ends only its own wait (with `CancellationError`) and harms
/// nobody else's. Nothing is remembered: the first call after the work has ended starts it anew, whether it failed or not.
///
/// Safe from any task or thread. It holds no thread while it waits.
package final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private enum Waiter {
        /// Counted in, but its continuation is not here yet.
        case arriving
        case waiting(CheckedContinuation<Value, any Error>)
        /// The result came before the continuation.
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

    /// - Parameter endsWhenAbandoned: Whether the work is cancelled once its last caller has gone. False for work whose outcome must
    ///   not be lost, as a refresh that the server may already have carried out.
    package init(endsWhenAbandoned: Bool = false) {
        self.endsWhenAbandoned = endsWhenAbandoned
    }

    /// Whether work for this key is under way.
    package func isRunning(_ key: Key) -> Bool {
        state.withLock { $0.flights[key] != nil }
    }

    /// How many callers wait for the work for this key.
    package func waiters(for key: Key) -> Int {
        state.withLock { $0.flights[key]?.waiters.count ?? 0 }
    }

    /// The result of the work under way for `key`, which is started if there is none.
    ///
    /// - Parameters:
    ///   - key: What the work is about.
    ///   - operation: The work, run only if none is under way.
    /// - Returns: What the shared work returned.
    /// - Throws: What the shared work threw, or `CancellationError` if the calling task was cancelled.
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
                let result: Result<Value, any Error>
                do { result = .success(try await operation()) } catch { result = .failure(error) }
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
            // The work may take a while to end; a new caller must not be given its `CancellationError`.
            if flight.task != nil { state.flights[key] = nil }
            return (continuation, flight.task)
        }
        abandoned?.cancel()
        continuation?.resume(throwing: CancellationError())
    }
}
