import Foundation

#if os(Linux)
/// One test of this bundle, run once more in a process of its own.
final class TestProcess {
    private let process = Process()
    private let output = Pipe()
    private let variables: [String: String]

    /// The executable of this process. Resolved here: in the child the link means the child.
    static var executable: URL { URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath() }

    private static let childVariable = "COUNTERSIGN_TEST_CHILD"

    /// Whether this is such a process: what a test asks that runs itself once more.
    static var isChild: Bool { ProcessInfo.processInfo.environment[childVariable] != nil }

    /// - Parameters:
    ///   - test: The suite and the function.
    ///   - executable: The bundle, or another name of it.
    ///   - workingDirectory: Where the process starts; by default where this one is.
    ///   - variables: Added to the environment.
    ///   - isOnOneCore: Whether the process has one core, and so one thread for all tasks.
    init(
        _ test: String, executable: URL = executable, workingDirectory: URL? = nil, variables: [String: String] = [:],
        isOnOneCore: Bool = false
    ) {
        self.variables = variables
        var command = [executable.path, "--testing-library", "swift-testing", "--filter", test]
        if isOnOneCore { command = ["/usr/bin/taskset", "--cpu-list", Self.firstCore] + command }
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        if let workingDirectory { process.currentDirectoryURL = workingDirectory }
        process.environment = ProcessInfo.processInfo.environment.merging([Self.childVariable: test]) { $1 }.merging(variables) { $1 }
        process.standardOutput = output
        // Where the test library reports.
        process.standardError = output
    }

    /// The first core that this process may use.
    private static var firstCore: String {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") } ?? "0"
        return String(line.split(whereSeparator: { !$0.isNumber }).first ?? "0")
    }

    /// Runs the process to its end.
    ///
    /// - Returns: Its status and what it wrote.
    func run() async throws -> (status: Int32, output: String) {
        try process.run()
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [process, output] in
                let data = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: (process.terminationStatus, String(decoding: data, as: UTF8.self)))
            }
        }
    }

    /// Runs the process, and kills it at once when it has written so many lines that begin so.
    ///
    /// - Returns: The lines that it wrote, also those written while it was being killed.
    func run(killingAfter count: Int, linesBeginning prefix: String) async throws -> [String] {
        try process.run()
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [process, output] in
                var text = Data()
                var lines: [String] {
                    String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init).filter { $0.hasPrefix(prefix) }
                }
                while lines.count < count {
                    let data = output.fileHandleForReading.availableData
                    if data.isEmpty { break }
                    text += data
                }
                kill(process.processIdentifier, SIGKILL)
                text += output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: lines)
            }
        }
    }
}
#endif
