internal import AuthFoundation
internal import CTestSupport
internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A process that was started and whose end a thread of its own waits for.
///
/// Foundation's `Process` learns of the end through `select` on Linux, which can't watch a descriptor above 1023: where many files are open
/// it waits for ever.
final class SpawnedProcess: Sendable {
    struct NotStarted: Error, CustomStringConvertible { let description: String }

    private struct State {
        var status: Int32?
        var waiting: [CheckedContinuation<Int32, Never>] = []
    }

    private let identifier: pid_t
    private let state: Locked<State>

    /// Starts it. It inherits the three descriptors and no others, blocks no signal and ignores none.
    ///
    /// - Parameters:
    ///   - executable: The file.
    ///   - arguments: Without the name of the program.
    ///   - environment: Variables beside those of this process.
    ///   - workingDirectory: Where it starts; nil for where this process is.
    ///   - descriptors: Its standard input, output and error.
    /// - Throws: ``NotStarted``.
    init(
        _ executable: URL, _ arguments: [String], environment: [String: String], workingDirectory: URL?, descriptors: [Int32]
    ) throws {
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        identifier = try Self.spawn(
            [executable.path] + arguments, environment: variables, workingDirectory: workingDirectory?.path, descriptors: descriptors)
        state = Locked(State())
        Thread.detachNewThread { [identifier, state] in
            // The number stays taken until it is known here, so that no signal ever reaches another process of that number.
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

    /// Sends a signal; nothing once the process has ended.
    func send(_ signal: Int32) {
        state.withLock { state in
            if state.status == nil { _ = kill(identifier, signal) }
        }
    }

    /// Waits for the end. A wait that is cancelled kills the process.
    ///
    /// - Returns: Its status; negative for a signal that ended it.
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

    /// The texts as C has them, with a nil at the end.
    private static func withCStrings<Result>(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result) -> Result {
        let copies = texts.map { text in strdup(text) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
