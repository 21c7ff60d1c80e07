package import Foundation

/// A program in a tmux terminal of 80 by 24 characters.
///
/// No function blocks a cooperative thread. Releasing a pane closes it and ends its program.
public final class Pane: Sendable {
    /// The error for a text that did not appear in time.
    public struct NotSeen: Error, CustomStringConvertible {
        /// The expected text and the screen.
        public let description: String
    }

    /// Whether tests with a pane run: if tmux is installed, or if the environment requires all tests.
    public static var isEnabled: Bool {
        executable != nil || ProcessInfo.processInfo.environment["COUNTERSIGN_REQUIRE_ALL"] == "1"
    }

    /// The message of a skipped test.
    public static let missingNote: String = "tmux is missing: run scripts/install tmux:tmux"

    private static let executable: URL? = ["/usr/bin/tmux", "/usr/local/bin/tmux", "/opt/homebrew/bin/tmux"].map { URL(filePath: $0) }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    /// The folder of the programs that were built with this test.
    package static var programs: URL {
        // The running test bundle is in the same folder.
        let own = CommandLine.arguments.first.map { URL(filePath: $0).deletingLastPathComponent() }
        let candidates = [own, Bundle.main.executableURL?.deletingLastPathComponent()].compactMap(\.self)
        return candidates.first { FileManager.default.fileExists(atPath: $0.appending(path: "DirectAuthTerminal").path) } ?? candidates[0]
    }

    private let folder: URL
    private let tmux: URL

    /// Runs a program in a terminal of its own. When the program has ended, the terminal shows `ended` and the exit status.
    ///
    /// - Parameters:
    ///   - program: The name of the executable.
    ///   - arguments: The arguments of the program.
    ///   - environment: Environment variables in addition to the variables of the test.
    /// - Throws: An error if tmux is missing or does not start.
    public init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) async throws {
        guard let executable = Self.executable else { throw NotSeen(description: Self.missingNote) }
        tmux = executable
        folder = URL.temporaryDirectory.appending(path: "pane-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let variables = environment.merging(["LC_ALL": "C.UTF-8"]) { own, _ in own }.map { "\($0)=\($1)" }.sorted()
        let words = ["env"] + variables + [Self.programs.appending(path: program).path] + arguments
        let command = words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
        // The terminal also closes if the tests end first or are killed, when no code is left to close it.
        let watch = "(while kill -0 \(ProcessInfo.processInfo.processIdentifier) 2>/dev/null; do sleep 1; done; kill -9 $$ $PPID) &"
        try await run(["new-session", "-d", "-x", "80", "-y", "24", "\(watch) echo before; \(command); echo \"ended $?\"; exec cat"])
    }

    deinit {
        let (tmux, folder) = (tmux, folder)
        Program.runInBackground(tmux, ["-S", folder.appending(path: "socket").path, "kill-server"]) {
            try? FileManager.default.removeItem(at: folder)
        }
    }

    /// Presses keys.
    ///
    /// - Parameter keys: The names of the keys in tmux, for example `Enter`, `Tab`, `Escape`, `C-c`, `Down`.
    /// - Throws: An error if the terminal is closed.
    public func press(_ keys: String...) async throws { try await run(["send-keys", "-t", ":"] + keys) }

    /// Types a text.
    ///
    /// - Throws: An error if the terminal is closed.
    public func type(_ text: String) async throws { try await run(["send-keys", "-t", ":", "-l", text]) }

    /// Pastes a text with bracketed paste.
    ///
    /// - Throws: An error if the terminal is closed.
    public func paste(_ text: String) async throws {
        try await run(["set-buffer", text])
        try await run(["paste-buffer", "-p", "-t", ":"])
    }

    /// Resizes the terminal.
    ///
    /// - Parameters:
    ///   - columns: The number of characters per line.
    ///   - rows: The number of lines.
    /// - Throws: An error if the terminal is closed.
    public func resize(columns: Int, rows: Int) async throws {
        try await run(["resize-window", "-t", ":", "-x", String(columns), "-y", String(rows)])
    }

    /// Sends a signal to the program.
    ///
    /// - Parameters:
    ///   - signal: The name of the signal, for example `TERM`.
    ///   - program: The name of the executable.
    /// - Throws: An error if the terminal is closed.
    public func send(signal: String, to program: String) async throws {
        let shell = try await run(["display-message", "-p", "-t", ":", "#{pane_pid}"]).trimmingCharacters(in: .whitespacesAndNewlines)
        _ = try await Program.run(URL(filePath: "/usr/bin/env"), ["pkill", "-\(signal)", "-P", shell, "-f", program])
    }

    /// The visible lines without trailing blanks, with progress indicators replaced by `*`.
    ///
    /// - Throws: An error if the terminal is closed.
    public func screen() async throws -> String {
        let text = try await run(["capture-pane", "-p", "-t", ":"])
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(line.map { "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".contains($0) ? "*" : $0 }).replacing(/\s+$/, with: "")
        }
        return lines.joined(separator: "\n").trimmingCharacters(in: .newlines)
    }

    /// Waits until the screen contains texts. Returns at once if the texts are already visible, even from before the last key.
    ///
    /// - Parameters:
    ///   - texts: All expected texts.
    ///   - limit: The maximum wait.
    /// - Returns: The whole screen, after all parts of it have arrived.
    /// - Throws: ``NotSeen`` if the wait ends first.
    @discardableResult
    public func waitFor(_ texts: String..., within limit: Duration = .seconds(30)) async throws -> String {
        var seen = ""
        let isSeen = try await poll(within: limit) {
            seen = try await screen()
            return texts.allSatisfy(seen.contains)
        }
        guard isSeen else {
            throw NotSeen(description: "“\(texts.filter { !seen.contains($0) }.joined(separator: "”, “"))” is not on:\n\(seen)")
        }
        // A terminal can show the first part of a frame before the rest.
        _ = try await poll(within: limit) {
            let next = try await screen()
            guard next != seen, texts.allSatisfy(next.contains) else { return true }
            seen = next
            return false
        }
        return seen
    }

    /// Waits until the screen has exactly the expected content.
    ///
    /// - Parameters:
    ///   - expected: The lines in the form of ``screen()``. A line `…` stands for any line, and a line `⋮` for three or more empty lines.
    ///   - limit: The maximum wait.
    /// - Throws: ``NotSeen`` if the wait ends first.
    public func waitForScreen(_ expected: String, within limit: Duration = .seconds(30)) async throws {
        let wanted = expected.trimmingCharacters(in: .newlines).split(separator: "\n", omittingEmptySubsequences: false)
        var seen = ""
        let isSeen = try await poll(within: limit) {
            seen = try await screen().replacing(/\n{4,}/, with: "\n⋮\n")
            let lines = seen.split(separator: "\n", omittingEmptySubsequences: false)
            return lines.count == wanted.count && zip(lines, wanted).allSatisfy { $1 == "…" || $0 == $1 }
        }
        guard isSeen else { throw NotSeen(description: "The screen is:\n\(seen)\ninstead of:\n\(expected)") }
    }

    private func poll(within limit: Duration, _ condition: () async throws -> Bool) async throws -> Bool {
        let clock = ContinuousClock()
        let deadline = clock.now.advanced(by: limit)
        while !(try await condition()) {
            guard clock.now < deadline else { return false }
            try await clock.sleep(for: .milliseconds(30))
        }
        return true
    }

    @discardableResult
    private func run(_ arguments: [String]) async throws -> String {
        let (status, output) = try await Program.run(
            tmux, ["-u", "-f", "/dev/null", "-S", folder.appending(path: "socket").path] + arguments)
        guard status == 0 else { throw NotSeen(description: "tmux \(arguments.joined(separator: " ")): \(output)") }
        return output
    }

    private static let closingFiles =
        #"for f in /dev/fd/*; do n=${f##*/}; if [ "$n" -gt 2 ]; then eval "exec $n>&-"; fi; done; exec "$0" "$@""#
}
