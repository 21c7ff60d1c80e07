import AuthFoundation
import Dispatch
import Foundation

/// Waits for SIGINT (Ctrl-C) or SIGTERM.
enum StopSignal {
    fileprivate static let listeners = SignalListeners()

    /// Starts listening. From now on, the next signal goes to the returned request and does not end the process. Without a waiting request,
    /// a signal ends the process at once.
    static func listen() async -> Request {
        await listeners.start()
        let (signals, heard) = AsyncStream.makeStream(of: Void.self)
        return Request(signals: signals, id: listeners.add(heard))
    }

    /// A registration for the next signal.
    struct Request: Sendable {
        fileprivate let signals: AsyncStream<Void>
        fileprivate let id: Int

        /// Waits for a signal that arrives after ``StopSignal/listen()``. Returns early if the task is cancelled.
        func signalOrCancellation() async {
            for await _ in signals { break }
            StopSignal.listeners.remove(id)
        }
    }
}

/// The requests that wait for a signal. The signal sources are never cancelled, because cancelling a source may also remove a later source.
private final class SignalListeners: Sendable {
    private struct State {
        var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastID = 0
        /// The number of signal sources that are not registered yet.
        var missing = 2
        var starting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    init() {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                // This reference keeps the source alive.
                _ = source
                hear(number)
            }
            // Signals before the registration are lost, so `start()` waits for the registration.
            source.setRegistrationHandler { [self] in started() }
            source.resume()
        }
    }

    /// Returns when all signal sources are registered.
    func start() async {
        await withCheckedContinuation { continuation in
            let isStarted = state.withLock { state in
                if state.missing > 0 { state.starting.append(continuation) }
                return state.missing == 0
            }
            if isStarted { continuation.resume() }
        }
    }

    private func started() {
        let starting = state.withLock { state in
            state.missing -= 1
            guard state.missing == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.starting = [] }
            return state.starting
        }
        for continuation in starting { continuation.resume() }
    }

    func add(_ continuation: AsyncStream<Void>.Continuation) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.waiting[state.lastID] = continuation
            return state.lastID
        }
    }

    func remove(_ id: Int) {
        state.withLock { $0.waiting[id] = nil }
    }

    private func hear(_ number: Int32) {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting
        }
        // The exit code that shells report for a process that a signal ended.
        if waiting.isEmpty { _exit(128 + number) }
        for continuation in waiting.values { continuation.yield() }
    }
}

/// Makes Ctrl-C cancel work, so that the work can clean up the terminal and the server before the process ends.
enum Interruption {
    @TaskLocal private static var isHeard = false

    /// Runs work that Ctrl-C cancels. After its cancellation, the work must end soon; any error that it throws becomes `CancellationError`.
    /// Nested calls have no effect.
    static func cancels<Success: Sendable>(_ work: @escaping @Sendable () async throws -> Success) async throws -> Success {
        guard !isHeard else { return try await work() }
        // Listening starts before the work, so that an immediate Ctrl-C is not missed.
        let request = await StopSignal.listen()
        let outcome = await $isHeard.withValue(true) {
            await withTaskGroup(of: Result<Success, any Error>?.self) { group -> Result<Success, any Error> in
                group.addTask {
                    do { return .success(try await work()) } catch { return .failure(error) }
                }
                group.addTask {
                    await request.signalOrCancellation()
                    return nil
                }
                var isInterrupted = false
                for await result in group {
                    group.cancelAll()
                    switch result {
                    case nil: isInterrupted = true
                    case .failure? where isInterrupted: return .failure(CancellationError())
                    case let result?: return result
                    }
                }
                return .failure(CancellationError())
            }
        }
        return try outcome.get()
    }
}
