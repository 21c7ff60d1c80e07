#if os(Linux) || os(macOS)
internal import AuthFoundation
internal import Foundation

/// The launcher of the user's browser: the command in the environment variable `BROWSER`, or else the system default.
struct BrowserLauncher: Sendable {
    /// The environment, such as `ProcessInfo.processInfo.environment`.
    let environment: [String: String]

    /// Returns the commands to try in order, each with its arguments. `BROWSER` contains commands separated by colons. `%s` stands for the
    /// URL; a command without `%s` receives the URL as its last argument. No shell is involved.
    func commands(for url: URL) -> [[String]] {
        let named = (environment["BROWSER"] ?? "").split(separator: ":").map { command in
            command.split(separator: " ").map(String.init)
        }
        let commands = named.filter { !$0.isEmpty }.map { words in
            words.contains { $0.contains("%s") } ? words.map { $0.replacing("%s", with: url.absoluteString) } : words + [url.absoluteString]
        }
        guard commands.isEmpty else { return commands }
        #if os(macOS)
        return [["open", url.absoluteString]]
        #else
        return [["xdg-open", url.absoluteString]]
        #endif
    }

    /// Runs the commands in order until one succeeds. Waits for a browser that runs in the foreground. Cancelling the task ends the wait,
    /// but the browser keeps running.
    /// - Throws: ``SystemBrowserError/cannotOpen(commands:)`` if no command succeeds or the URL is not http or https; `CancellationError`.
    func open(_ url: URL) async throws {
        let commands = ["http", "https"].contains(url.scheme?.lowercased()) ? commands(for: url) : []
        for command in commands where try await run(command) { return }
        throw SystemBrowserError.cannotOpen(commands: commands.compactMap(\.first))
    }

    /// Returns whether the command started and exited with status 0.
    private func run(_ command: [String]) async throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.environment = environment
        // Keep browser messages out of the app's own output.
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let status = Decision<Int32>()
        process.terminationHandler = { status.decide(.success($0.terminationStatus)) }
        do { try process.run() } catch { return false }
        return try await status.valueUnlessCancelled() == 0
    }
}
#endif
