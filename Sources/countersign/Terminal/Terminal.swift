import Foundation
import JOSE

/// The command's output. Results go to the standard output, all other text goes to the standard error.
enum Terminal {
    /// A text style. It is shown only on a terminal.
    enum Colour: String {
        case green = "32"
        case red = "31"
        case yellow = "33"
        case dim = "2"
        case bold = "1"
    }

    /// Whether the standard output is a terminal that shows colours (https://no-color.org).
    static let showsColour =
        isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
        && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    /// Whether the standard error is a terminal on which a line can be overwritten.
    static let notesAreSeen = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    private static let notesShowColour = notesAreSeen && ProcessInfo.processInfo.environment["NO_COLOR"] == nil

    /// The width of the terminal to which notes are written, in characters; 80 if it is unknown.
    static var noteColumns: Int { columns(of: STDERR_FILENO) ?? 80 }

    /// Writes a line of the result, wrapped at words on a terminal. Ends the program if the reader has closed the output.
    static func write(_ line: TerminalText) { output(wrapped(line, for: STDOUT_FILENO)) }

    /// Writes a line of JSON. It is not wrapped, because a program reads it.
    static func write(json value: JSONValue) { output(JSONText.line(value)) }

    /// Writes the text of a file, which ends with a line break and contains no control characters. It is not wrapped.
    static func write(file text: String) { output(text, lineEnd: "") }

    private static func output(_ line: String, lineEnd: String = "\n") {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((line + lineEnd).utf8))
        } catch {
            // The reader has closed the output, for example `| head`.
            exit(EXIT_FAILURE)
        }
    }

    /// Writes a line of the result as text, or as JSON with `isJSON`.
    static func write(_ line: TerminalText, or json: @autoclosure () -> JSONValue, isJSON: Bool) {
        if isJSON { write(json: json()) } else { write(line) }
    }

    /// Writes a note to the standard error, wrapped at words on a terminal.
    static func note(_ line: TerminalText) {
        // A closed standard error means that the user wants no notes.
        try? FileHandle.standardError.write(contentsOf: Data((wrapped(line, for: STDERR_FILENO) + "\n").utf8))
    }

    /// Writes a question as a note without a line break, so that the cursor stays behind the question.
    static func prompt(_ text: TerminalText) {
        try? FileHandle.standardError.write(contentsOf: Data(text.rendered.utf8))
    }

    static func styled(_ text: TerminalText, _ colour: Colour) -> TerminalText { showsColour ? text.styled(colour) : text }

    /// Replaces the last line of the notes, without a line break.
    static func rewriteNote(_ text: TerminalText) {
        try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[2K\(text.rendered)".utf8))
    }

    /// Styles text for notes; see ``styled(_:_:)``.
    static func styledNote(_ text: TerminalText, _ colour: Colour) -> TerminalText { notesShowColour ? text.styled(colour) : text }

    private static func wrapped(_ text: TerminalText, for descriptor: Int32) -> String {
        guard isatty(descriptor) == 1, let columns = columns(of: descriptor), columns >= 20 else { return text.rendered }
        return LineWrapping.wrap(text.rendered, columns: columns)
    }

    /// Returns the width of a terminal: the variable COLUMNS, or the width that the terminal reports; `nil` if neither is known.
    private static func columns(of descriptor: Int32) -> Int? {
        if let said = ProcessInfo.processInfo.environment["COLUMNS"].flatMap({ Int($0) }), said > 0 { return said }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}

/// Asks for a password without showing it, or reads it as a line of a non-interactive standard input.
enum PasswordPrompt {
    /// Returns the password. Throws ``CommandFailure`` if the line is empty or missing, and `CancellationError` after Ctrl-C.
    static func ask(_ prompt: TerminalText) async throws -> String {
        guard let answer = try await TerminalInput.line(prompt, isSecret: true), !answer.isEmpty else {
            throw CommandFailure("The password is missing.")
        }
        return answer
    }
}

/// The clock and the delays of the command.
enum TerminalClock {
    static var now: Date { Date() }

    static func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: duration)
    }

    /// Waits for `event`, at most for `limit`, even if the current task is cancelled. After the limit, `event` is cancelled and must end.
    static func wait(atMost limit: Duration, for event: @escaping @Sendable () async -> Void) async {
        // An unstructured task does not inherit the cancellation.
        await Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await event() }
                // This task is cancelled only after the event has ended.
                group.addTask { try? await sleep(for: limit) }
                await group.next()
                group.cancelAll()
            }
        }.value
    }
}
