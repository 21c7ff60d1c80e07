import Dispatch
import Foundation

/// Waits until the process is asked to end: by Ctrl-C, or by its supervisor.
enum StopSignal {
    /// Returns when the process is asked to, or the task is cancelled. Asked once more, the process ends at once.
    static func wait() async {
        let numbers = [SIGINT, SIGTERM]
        let (signals, heard) = AsyncStream.makeStream(of: Void.self)
        let sources = numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { heard.yield() }
            source.resume()
            return source
        }
        for await _ in signals { break }
        for source in sources { source.cancel() }
        for number in numbers { signal(number, SIG_DFL) }
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
