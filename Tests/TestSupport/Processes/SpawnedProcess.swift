internal import AuthFoundation
internal import CTestSupport
internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A child process with a thread that waits for its end.
///
/// On Linux, Foundation's `Process` waits for the end with `select`, which cannot watch a descriptor above 1023. If many files are open, it
/// never returns.
final class SpawnedProcess: Sendable {
    struct NotStarted: Error, CustomStringConvertible { let description: String }

    private struct State {
        var status: Int32?
        var waiting: [CheckedContinuation<Int32, Never>] = []
    }

    private let identifier: pid_t
    private let state: Locked<State>

    /// Starts the process, which inherits only the three descriptors and blocks or ignores no signal.
    ///
    /// - Parameters:
    ///   - arguments: The arguments without the name of the program.
    ///   - environment: Variables in addition to those of this process.
    ///   - workingDirectory: The working directory; nil for that of this process.
    ///   - descriptors: The standard input, output and error.
    /// - Throws: ``NotStarted``.
    init(
        _ executable: URL, _ arguments: [String], environment: [String: String], workingDirectory: URL?, descriptors: [Int32]
    ) throws {
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        identifier = try Self.spawn(
            [executable.path] + arguments, environment: variables, workingDirectory: workingDirectory?.path, descriptors: descriptors)
        state = Locked(State())
        Thread.detachNewThread { [identifier, state] in
            // `WNOWAIT` keeps the process ID reserved until the status is stored, so that no signal reaches another process with this ID.
            var information = siginfo_t()
            while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
            let (status, waiting) = state.withLock { state in
                let status = Self.reap(identifier)
                state.status = status
                defer { state.waiting = [] }
                return (status, state.waiting)
            }
            for continuation in waiting { continuation.resume(returning: status) }
        }
    }

    /// Sends a signal. It has no effect after the process has ended.
    func send(_ signal: Int32) {
        state.withLock { state in
            if state.status == nil { _ = kill(identifier, signal) }
        }
    }

    /// Waits for the end of the process. Cancellation of the wait kills the process.
    ///
    /// - Returns: The exit status, or the negative number of the signal that ended the process.
    func status() async -> Int32 {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let status = state.withLock { state in
                    if state.status == nil { state.waiting.append(continuation) }
                    return state.status
                }
                if let status { continuation.resume(returning: status) }
            }
        } onCancel: {
            send(SIGKILL)
        }
    }

    private static func reap(_ identifier: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
    }

    private static func spawn(
        _ arguments: [String], environment: [String], workingDirectory: String?, descriptors: [Int32]
    ) throws -> pid_t {
        var identifier: pid_t = 0
        let error = withCStrings(arguments) { arguments in
            withCStrings(environment) { spawnProgram(arguments, $0, workingDirectory, descriptors, &identifier) }
        }
        guard error == 0 else { throw NotStarted(description: "\(arguments[0]): \(String(cString: strerror(error)))") }
        return identifier
    }

    /// Calls a closure with the texts as C strings, and `nil` after the last one.
    private static func withCStrings<Result>(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result) -> Result {
        let copies = texts.map { text in strdup(text) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
