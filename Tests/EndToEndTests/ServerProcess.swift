import TestSupport

/// `countersign serve` as a child process of the test.
final class ServerProcess: Sendable {
    private let process: ChildProcess

    /// Starts the server and waits until it reports that it is listening.
    init(config: String, data: String, port: Int) async throws {
        process = try Command.start(["serve", "--config", config, "--data", data, "--port", "\(port)"])
        try await process.waitFor(" listening")
    }

    /// Kills the server without a graceful stop, like a power failure.
    func kill() { process.kill() }

    /// Waits until the process has exited.
    func waitUntilEnded() async { _ = await process.end() }
}
