/// Runs a program from outside the package with text on its standard input.
public enum ForeignProgram: Sendable {
    /// Runs the program and waits for its end without blocking a cooperative thread.
    ///
    /// - Parameter environment: Variables in addition to those of the test.
    public static func run(
        _ part: OutsidePart, _ arguments: [String], input: String, environment: [String: String] = [:]
    ) async throws -> ChildProcess.Ended {
        try await ChildProcess.run(part.executable, arguments, input: input, environment: environment)
    }
}
