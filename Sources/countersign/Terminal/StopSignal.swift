import AuthFoundation
import Dispatch
import Foundation

/// Waits until the process is asked to end: by Ctrl-C, or by its supervisor.
enum StopSignal {
    fileprivate static let listeners = SignalListeners()

    /// From here on the process can be asked to end, and is not ended by it. Asked once more while nobody waits, it ends at once.
    static func listen() async -> Request {
        await listeners.start()
        let (signals, heard) = AsyncStream.makeStream(of: Void.self)
        return Request(signals: signals, id: listeners.add(heard))
    }

    /// What the next request to end goes to.
    struct Request: Sendable {
        fileprivate let signals: AsyncStream<Void>
        fileprivate let id: Int

        /// Returns when the process was asked to end since ``StopSignal/listen()``, or the task is cancelled.
        func wait() async {
            for await _ in signals { break }
            StopSignal.listeners.remove(id)
        }
    }
}

/// Who waits for a signal. The sources of signals stay as long as the process: one that is cancelled may take a later one with it.
private final class SignalListeners: Sendable {
    private struct State {
        var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastID = 0
        /// The signals that are not yet heard.
        var missing = 2
        var starting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    init() {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                // Holds itself.
                _ = source
                hear(number)
            }
            // Until then signals are lost: nothing that one could want to end begins before.
            source.setRegistrationHandler { [self] in started() }
            source.resume()
        }
    }

    /// Returns once signals are heard.
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
        // What a shell tells of a program that a signal has ended.
        if waiting.isEmpty { _exit(128 + number) }
        for continuation in waiting.values { continuation.yield() }
    }
}

/// Lets Ctrl-C cancel a piece of work, so that it puts the terminal and the server in order before the process ends.
enum Interruption {
    @TaskLocal private static var isHeard = false

    /// Does the work; Ctrl-C cancels its task. Within such work it changes nothing.
    ///
    /// - Parameter work: What shall be cancelled. It has to end soon then.
    /// - Returns: What the work gave.
    /// - Throws: What the work threw; whatever it threw after Ctrl-C, `CancellationError`.
    static func cancels<Success: Sendable>(_ work: @escaping @Sendable () async throws -> Success) async throws -> Success {
        guard !isHeard else { return try await work() }
        // Before the work begins: it may ask, and be answered by Ctrl-C, at once.
        let request = await StopSignal.listen()
        let outcome = await $isHeard.withValue(true) {
            await withTaskGroup(of: Result<Success, any Error>?.self) { group -> Result<Success, any Error> in
                group.addTask {
                    do { return .success(try await work()) } catch { return .failure(error) }
                }
                group.addTask {
                    await request.wait()
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
