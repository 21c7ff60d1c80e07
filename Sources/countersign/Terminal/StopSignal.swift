import AuthFoundation
import Dispatch
import Foundation

/// Waits until the process is asked to end: by Ctrl-C, or by its supervisor.
enum StopSignal {
    private static let listeners = SignalListeners()

    /// Returns when the process is asked to, or the task is cancelled. Asked once more while nobody waits, the process ends at once.
    static func wait() async {
        let (signals, heard) = AsyncStream.makeStream(of: Void.self)
        let id = listeners.add(heard)
        for await _ in signals { break }
        listeners.remove(id)
    }
}

/// Who waits for a signal. The sources of signals stay as long as the process: one that is cancelled may take a later one with it.
private final class SignalListeners: Sendable {
    private struct State {
        var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastID = 0
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
            source.resume()
        }
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
        let outcome = await $isHeard.withValue(true) {
            await withTaskGroup(of: Result<Success, any Error>?.self) { group -> Result<Success, any Error> in
                group.addTask {
                    do { return .success(try await work()) } catch { return .failure(error) }
                }
                group.addTask {
                    await StopSignal.wait()
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
