public import AuthFoundation
public import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers

/// The one clock of a sandbox: the server reads it, and every `OAuth2Client` that it is given to.
///
/// ```swift
/// sandbox.clock.advance(by: 3600)  // the access token is now expired, on both sides
/// ```
///
/// `Sendable`; safe from any thread or task.
public final class SandboxClock: OAuth2Clock {
    /// How the clock goes by itself.
    public enum Mode: String, Sendable, CaseIterable {
        /// It goes with the system's clock.
        case running
        /// It stands until it is advanced.
        case standing
        /// It stands, and who waits on it moves it on by that much at once: a test that makes the client wait takes no time.
        /// Not for automatic refresh, which waits for ever.
        case skipping
    }

    private struct State {
        /// The reading, while standing; the distance to the system's clock, while running.
        var standing: Date
        var offset: TimeInterval
        /// How often it was moved by hand.
        var moves = 0
        var waiters: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var nextWaiter: UInt64 = 0
        var watchers: [(waiters: Int, signal: AsyncStream<Never>.Continuation)] = []

        /// The watchers who wait for no more than the waiters that there are, and takes them off.
        mutating func takeReadyWatchers() -> [AsyncStream<Never>.Continuation] {
            let count = waiters.count
            defer { watchers.removeAll { $0.waiters <= count } }
            return watchers.filter { $0.waiters <= count }.map(\.signal)
        }
    }

    /// How the clock goes by itself.
    public let mode: Mode
    private let start: (reading: Date, offset: TimeInterval)
    private let system: @Sendable () -> Date
    private let state: NIOLockedValueBox<State>

    /// Makes a clock.
    ///
    /// - Parameters:
    ///   - mode: How it goes by itself.
    ///   - start: Its first reading; nil for the system's time.
    ///   - system: The clock that it goes with while ``Mode/running``.
    public init(_ mode: Mode = .running, startingAt start: Date? = nil, system: @escaping @Sendable () -> Date = { Date() }) {
        self.mode = mode
        self.system = system
        let time = system()
        let reading = start ?? time
        self.start = (reading, reading.timeIntervalSince(time))
        state = NIOLockedValueBox(State(standing: reading, offset: reading.timeIntervalSince(time)))
    }

    /// The time now.
    public var now: Date {
        state.withLockedValue { reading($0) }
    }

    /// Moves the clock on and wakes who waited for a time that is now past.
    ///
    /// - Parameter interval: The number of seconds; a negative number sets the clock back. The result is limited to the years 1970 to 9999.
    public func advance(by interval: TimeInterval) {
        wake { state in
            let next = reading(state).addingTimeInterval(interval.isNaN ? 0 : interval)
            set(&state, to: next)
        }
    }

    /// Sets the clock and wakes who waited for a time that is now past.
    ///
    /// - Parameter date: The new time, limited to the years 1970 to 9999.
    public func set(to date: Date) {
        wake { set(&$0, to: date) }
    }

    /// Undoes every change, and resumes callers that waited for a time that is now past. A stopped clock returns to its initial time; a
    /// running clock returns to the time that it would have without changes.
    func reset() {
        wake {
            $0.standing = start.reading
            $0.offset = start.offset
        }
    }

    /// Waits until the clock has gone on.
    ///
    /// - Parameter interval: By how many seconds; zero and less return at once.
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
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

    /// Waits until so many tasks wait on this clock, so that a test knows whom it wakes; returns at once if its task is cancelled.
    package func waitForSleepers(_ count: Int) async {
        let (signals, signal) = AsyncStream.makeStream(of: Never.self)
        let ready = state.withLockedValue { state in
            state.watchers.append((count, signal))
            return state.takeReadyWatchers()
        }
        for signal in ready { signal.finish() }
        for await _ in signals {}
    }

    // MARK: - Waiting

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

    /// Returns when the clock was moved by hand once more than that, or after some real time.
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
                    // Moved meanwhile, or cancelled before it waits: the handler below has run and found nobody.
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
