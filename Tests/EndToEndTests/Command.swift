import Foundation
import TestSupport
import Testing

/// Runs the `countersign` command as a separate process.
enum Command {
    typealias Ended = ChildProcess.Ended

    /// The executable in the build folder of this test.
    static var executable: URL {
        get throws {
            let folders = [
                Bundle.main.executableURL?.deletingLastPathComponent(),
                CommandLine.arguments.first.map { URL(filePath: $0).deletingLastPathComponent() },
                OutsidePart.root.appending(path: ".build/debug"),
            ]
            let candidates = folders.compactMap { $0?.appending(path: "countersign") }
            return try #require(candidates.first { FileManager.default.isExecutableFile(atPath: $0.path()) }, "The command was not built.")
        }
    }

    /// Runs the command until it exits.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the command.
    ///   - input: The content of its standard input.
    ///   - environment: Environment variables in addition to those of the test.
    static func run(_ arguments: [String], input: String = "", environment: [String: String] = [:]) async throws -> Ended {
        try await ChildProcess.run(try executable, arguments, input: input, environment: environment)
    }

    /// Starts the command without waiting for its end.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the command.
    ///   - connection: Its standard input.
    ///   - environment: Environment variables in addition to those of the test.
    static func start(
        _ arguments: [String], _ connection: ChildProcess.Connection = .input(""), environment: [String: String] = [:]
    ) throws -> ChildProcess {
        try ChildProcess(try executable, arguments, connection, environment: environment)
    }
}

/// A temporary folder that is deleted together with the value that owns it.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = URL.temporaryDirectory.appending(path: "countersign-test-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    var path: String { url.path() }

    func writer(_ name: String) throws -> FileHandle {
        let file = url.appending(path: name)
        try Data().write(to: file)
        return try FileHandle(forWritingTo: file)
    }

    func text(_ name: String) throws -> String {
        try String(contentsOf: url.appending(path: name), encoding: .utf8)
    }

    func write(_ text: String, to name: String) throws -> String {
        let file = url.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path()
    }
}
