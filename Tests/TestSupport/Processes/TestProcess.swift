public import Foundation

#if os(Linux)
/// One test of this bundle, run once more in a process of its own.
public struct TestProcess: Sendable {
    private let command: [String]
    private let workingDirectory: URL?
    private let variables: [String: String]

    /// The executable of this process. Resolved here: in the child the link means the child.
    public static var executable: URL { URL(filePath: "/proc/self/exe").resolvingSymlinksInPath() }

    private static let childVariable = "COUNTERSIGN_TEST_CHILD"

    /// Whether this is such a process: what a test asks that runs itself once more.
    public static var isChild: Bool { ProcessInfo.processInfo.environment[childVariable] != nil }

    /// A test to run.
    ///
    /// - Parameters:
    ///   - test: The suite and the function.
    ///   - executable: The bundle, or another name of it.
    ///   - workingDirectory: Where the process starts; by default where this one is.
    ///   - variables: Added to the environment.
    ///   - isOnOneCore: Whether the process has one core, and so one thread for all tasks.
    public init(
        _ test: String, executable: URL = executable, workingDirectory: URL? = nil, variables: [String: String] = [:],
        isOnOneCore: Bool = false
    ) {
        let command = [executable.path, "--testing-library", "swift-testing", "--filter", test]
        self.command = isOnOneCore ? ["/usr/bin/taskset", "--cpu-list", Self.firstCore] + command : command
        self.workingDirectory = workingDirectory
        self.variables = variables.merging([Self.childVariable: test]) { $1 }
    }

    /// Runs the process to its end.
    ///
    /// - Returns: Its status, negative for a signal that ended it, and what it wrote.
    /// - Throws: If it can't be started.
    public func run() async throws -> (status: Int32, output: String) {
        let (status, text) = try await start().end()
        return (status, text)
    }

    /// Runs the process, and kills it at once when it has written so many lines that begin so.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - prefix: What they begin with.
    /// - Returns: The lines that it wrote, also those written while it was being killed.
    /// - Throws: If it can't be started.
    public func run(killingAfter count: Int, linesBeginning prefix: String) async throws -> [String] {
        let process = try start()
        await process.waitForLines(count, beginning: prefix)
        process.kill()
        _ = await process.end()
        return process.lines(beginning: prefix)
    }

    private func start() throws -> ChildProcess {
        try ChildProcess(
            URL(filePath: command[0]), Array(command.dropFirst()), environment: variables, workingDirectory: workingDirectory)
    }

    /// The first core that this process may use.
    private static var firstCore: String {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") } ?? "0"
        return String(line.split(whereSeparator: { !$0.isNumber }).first ?? "0")
    }
}
#endif
