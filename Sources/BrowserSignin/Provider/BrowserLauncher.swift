#if os(Linux) || os(macOS)
internal import Foundation

/// Opens the person's browser: the one that the variable `BROWSER` names, else the system's.
struct BrowserLauncher: Sendable {
    /// The variables, such as `ProcessInfo.processInfo.environment`.
    let environment: [String: String]

    /// The commands to try, one after the other, each with its arguments.
    ///
    /// `BROWSER` holds commands with colons between them; `%s` stands for the URL, and where there is none it comes last. No shell sees them.
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

    /// Opens the URL and waits until the command that opens it has ended; a browser that stays in the foreground is waited for, until the
    /// task is cancelled. It is left running then.
    ///
    /// - Parameter url: An http or https URL.
    /// - Throws: ``SystemBrowserError/cannotOpen(commands:)``; `CancellationError`.
    func open(_ url: URL) async throws {
        let commands = ["http", "https"].contains(url.scheme?.lowercased()) ? commands(for: url) : []
        for command in commands where try await run(command) { return }
        throw SystemBrowserError.cannotOpen(commands: commands.compactMap(\.first))
    }

    /// - Returns: Whether it went well.
    private func run(_ command: [String]) async throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.environment = environment
        // Browsers talk, and the app's own output is not theirs.
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let status = Decision<Int32>()
        process.terminationHandler = { status.decide(.success($0.terminationStatus)) }
        do { try process.run() } catch { return false }
        return try await withTaskCancellationHandler {
            try await status.value() == 0
        } onCancel: {
            status.decide(.failure(CancellationError()))
        }
    }
}
#endif
