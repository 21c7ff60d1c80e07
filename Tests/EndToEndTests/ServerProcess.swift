import TestSupport

/// `countersign serve` as a child of the test.
final class ServerProcess: Sendable {
    private let process: ChildProcess

    /// Starts the server and waits until it says that it listens.
    init(config: String, data: String, port: Int) async throws {
        process = try Command.start(["serve", "--config", config, "--data", data, "--port", "\(port)"])
        try await process.waitFor(" listening")
    }

    /// Ends it as a failure of power would: without a word.
    func kill() { process.kill() }

    /// Waits until it is gone.
    func waitUntilEnded() async { _ = await process.end() }
}
