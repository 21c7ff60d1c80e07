public import AuthFoundation
public import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers

/// The clock of a sandbox, shared by the server and every `OAuth2Client` that uses it.
///
/// ```swift
/// sandbox.clock.advance(by: 3600)  // the access token is now expired, on both sides
/// ```
///
/// Safe from any thread or task.
public final class SandboxClock: OAuth2Clock {
    /// The behavior of the clock between manual changes.
    public enum Mode: String, Sendable, CaseIterable {
        /// The clock runs at the rate of the system's clock.
        case running
        /// The clock stands still until it is advanced.
        case standing
        /// The clock stands still, but each wait advances it at once by the full interval. A test with a waiting client then takes no time.
        /// Do not use this mode with automatic refresh, which never stops waiting.
        case skipping
    }

    private struct State {
        /// The time of a stopped clock.
        var standing: Date
        /// The seconds by which a running clock is ahead of the system's clock.
        var offset: TimeInterval
        /// The number of manual changes.
        var moves = 0
        var waiters: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var nextWaiter: UInt64 = 0
        var watchers: [(waiters: Int, signal: AsyncStream<Never>.Continuation)] = []

        /// Removes and returns the watchers whose number of waiters is reached.
        mutating func takeReadyWatchers() -> [AsyncStream<Never>.Continuation] {
            let count = waiters.count
            defer { watchers.removeAll { $0.waiters <= count } }
            return watchers.filter { $0.waiters <= count }.map(\.signal)
        }
    }

    /// The behavior of the clock between manual changes.
    public let mode: Mode
    private let start: (reading: Date, offset: TimeInterval)
    private let system: @Sendable () -> Date
    private let state: NIOLockedValueBox<State>

    /// Creates a clock.
    /// - Parameters:
    ///   - start: The initial time; `nil` for the system's time.
    ///   - system: The system's clock, used in the mode ``Mode/running``.
    public init(_ mode: Mode = .running, startingAt start: Date? = nil, system: @escaping @Sendable () -> Date = { Date() }) {
        self.mode = mode
        self.system = system
        let time = system()
        let reading = start ?? time
        self.start = (reading, reading.timeIntervalSince(time))
        state = NIOLockedValueBox(State(standing: reading, offset: reading.timeIntervalSince(time)))
    }

    /// The current time.
    public var now: Date {
        state.withLockedValue { reading($0) }
    }

    /// Advances the clock and resumes callers that waited for a time that is now past.
    /// - Parameter interval: The number of seconds; a negative number sets the clock back. The result is limited to the years 1970 to 9999.
    public func advance(by interval: TimeInterval) {
        wake { state in
            let next = reading(state).addingTimeInterval(interval.isNaN ? 0 : interval)
            set(&state, to: next)
        }
    }

    /// Sets the clock and resumes callers that waited for a time that is now past.
    /// - Parameter date: The new time, limited to the years 1970 to 9999.
    public func set(to date: Date) {
        wake { set(&$0, to: date) }
    }

    /// Undoes every manual change, and resumes callers that waited for a time that is now past. A stopped clock returns to its initial
    /// time; a running clock returns to the time that it would have without changes.
    func reset() {
        wake {
            $0.standing = start.reading
            $0.offset = start.offset
        }
    }

    /// Waits until the clock has advanced.
    /// - Parameter interval: The number of seconds; with zero or less, it returns at once.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(for interval: TimeInterval) async throws {
        try Task.checkCancellation()
        guard interval > 0 else { return }
        if mode == .skipping {
            advance(by: interval)
            return
        }
        let deadline = now.addingTimeInterval(interval)
        while true {
            let (time, moves) = state.withLockedValue { (reading($0), $0.moves) }
            let remaining = deadline.timeIntervalSince(time)
            guard remaining > 0 else { return }
            try await waitForMove(after: moves, orFor: mode == .running ? remaining : nil)
        }
    }

    /// Waits until at least `count` tasks wait on this clock, so that a test knows which tasks it resumes. Returns at once if its task is
    /// cancelled.
    package func waitForSleepers(_ count: Int) async {
        let (signals, signal) = AsyncStream.makeStream(of: Never.self)
        let ready = state.withLockedValue { state in
            state.watchers.append((count, signal))
            return state.takeReadyWatchers()
        }
        for signal in ready { signal.finish() }
        for await _ in signals {}
    }

    private func reading(_ state: State) -> Date {
        mode == .running ? system().addingTimeInterval(state.offset) : state.standing
    }

    /// Sets the time, limited to the range that tokens and headers can express.
    private func set(_ state: inout State, to date: Date) {
        let date = Date(clampingNumericDate: date.timeIntervalSince1970)
        state.standing = date
        state.offset = date.timeIntervalSince(system())
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiters = state.withLockedValue { state in
            change(&state)
            state.moves += 1
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits until the number of manual changes is no longer `moves`, or until a number of seconds of real time has passed; `nil` for no
    /// limit.
    private func waitForMove(after moves: Int, orFor seconds: TimeInterval?) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.waitForMove(after: moves) }
            if let seconds {
                group.addTask { try await Task.sleep(for: .seconds(min(seconds, 365 * 86_400)), clock: .continuous) }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func waitForMove(after moves: Int) async throws {
        let id = state.withLockedValue { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let ready = state.withLockedValue { state -> [AsyncStream<Never>.Continuation]? in
                    guard !Task.isCancelled, state.moves == moves else { return nil }
                    state.waiters[id] = continuation
                    return state.takeReadyWatchers()
                }
                guard let ready else {
                    // The clock has changed, or the task was cancelled before this waiter was stored, so that the handler below found no
                    // waiter.
                    return continuation.resume(with: Task.isCancelled ? .failure(CancellationError()) : .success(()))
                }
                for signal in ready { signal.finish() }
            }
        } onCancel: {
            let waiter = state.withLockedValue { $0.waiters.removeValue(forKey: id) }
            waiter?.resume(throwing: CancellationError())
        }
    }
}
