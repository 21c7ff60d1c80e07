/// Asks for a password without showing it; reads a line of the standard input where that is no terminal.
enum PasswordPrompt {
    /// - Throws: ``CommandFailure`` if none is given; `CancellationError` after Ctrl-C.
    static func ask(_ prompt: TerminalText) async throws -> String {
        guard let answer = try await TerminalInput.line(prompt, isSecret: true), !answer.isEmpty else {
            throw CommandFailure("No password was given.")
        }
        return answer
    }
}
