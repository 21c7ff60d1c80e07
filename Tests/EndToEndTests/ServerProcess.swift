/// `countersign serve` as a child of the test.
final class ServerProcess: Sendable {
    private let command: RunningCommand

    /// Starts the server and waits until it says that it listens.
    init(config: String, data: String, port: Int) async throws {
        command = try RunningCommand(["serve", "--config", config, "--data", data, "--port", "\(port)"])
        try await command.waitFor(" listening")
    }

    deinit {
        // A test that failed in between must not leave a server behind.
        kill()
    }

    /// Ends it as a failure of power would: without a word.
    func kill() { command.kill() }

    /// Waits until it is gone.
    func waitUntilEnded() async { _ = await command.end() }
}
