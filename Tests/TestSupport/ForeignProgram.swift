import Foundation

/// Runs a program of somebody else's with text on its standard input.
public enum ForeignProgram: Sendable {
    /// How a program ended, and what it wrote.
    public struct Result: Sendable {
        /// Its status; 0 for success.
        public var status: Int32
        /// What it wrote to its standard output.
        public var output: String
        /// What it wrote to its standard error.
        public var errors: String
    }

    /// Runs the program and waits for its end without blocking a cooperative thread.
    ///
    /// - Parameters:
    ///   - part: Which.
    ///   - arguments: Its arguments.
    ///   - input: What it reads.
    ///   - environment: Variables beside those of the test.
    /// - Returns: How it ended.
    /// - Throws: If it can't be run.
    public static func run(
        _ part: OutsidePart, _ arguments: [String], input: String, environment: [String: String] = [:]
    ) async throws -> Result {
        let name = "countersign-foreign-\(ProcessInfo.processInfo.globallyUniqueString)"
        let folder = FileManager.default.temporaryDirectory.appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files instead of pipes: nothing to drain, so nothing can fill up.
        let files = ["in", "out", "err"].map { folder.appending(path: $0) }
        try Data(input.utf8).write(to: files[0])
        for file in files.dropFirst() { try Data().write(to: file) }

        let process = Process()
        process.executableURL = part.executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        let status = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return Result(
            status: status, output: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
    }
}
