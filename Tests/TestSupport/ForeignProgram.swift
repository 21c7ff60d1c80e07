/// Runs a program of somebody else's with text on its standard input.
public enum ForeignProgram: Sendable {
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
    ) async throws -> ChildProcess.Ended {
        try await ChildProcess.run(part.executable, arguments, input: input, environment: environment)
    }
}
