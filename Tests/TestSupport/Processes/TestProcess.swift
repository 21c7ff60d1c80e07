public import Foundation

#if os(Linux)
/// A test of this bundle that runs again in a separate process.
public struct TestProcess: Sendable {
    private let command: [String]
    private let workingDirectory: URL?
    private let variables: [String: String]

    /// The executable of this process. The link is resolved here, because it refers to another executable in a child process.
    public static var executable: URL { URL(filePath: "/proc/self/exe").resolvingSymlinksInPath() }

    private static let childVariable = "COUNTERSIGN_TEST_CHILD"

    /// Whether this process was started by a ``TestProcess``. A test that runs itself again checks this property.
    public static var isChild: Bool { ProcessInfo.processInfo.environment[childVariable] != nil }

    /// Creates a process of a test, which does not run yet.
    ///
    /// - Parameters:
    ///   - test: The suite and the function.
    ///   - executable: The test bundle, or another path to it.
    ///   - workingDirectory: The working directory; nil for that of this process.
    ///   - variables: Variables in addition to those of this process.
    ///   - isOnOneCore: Whether the process has one core, and therefore one thread for all tasks.
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
    /// - Returns: The exit status, or the negative number of the signal that ended the process; and the output.
    public func run() async throws -> (status: Int32, output: String) {
        let (status, text) = try await start().end()
        return (status, text)
    }

    /// Runs the process and kills it as soon as it has written this number of lines with this prefix.
    ///
    /// - Returns: All lines with the prefix, including lines that the process wrote before the kill took effect.
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
