import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// `countersign serve` as a child of the test.
final class ServerProcess: Sendable {
    struct DidNotStart: Error, CustomStringConvertible { let description: String }

    private let process: Process
    private let ended: AsyncStream<Int32>

    /// Starts the server and waits until it says that it listens.
    init(config: String, data: String, port: Int) async throws {
        let process = Process()
        process.executableURL = try Command.executable
        process.arguments = ["serve", "--config", config, "--data", data, "--port", "\(port)"]
        let log = Pipe()
        process.standardError = log
        process.standardOutput = FileHandle.nullDevice
        let (ended, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = {
            end.yield($0.terminationStatus)
            end.finish()
        }
        let (chunks, chunk) = AsyncStream.makeStream(of: Data.self)
        log.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            chunk.yield(data)
            if data.isEmpty {
                handle.readabilityHandler = nil
                chunk.finish()
            }
        }
        self.process = process
        self.ended = ended
        try process.run()
        var text = ""
        for await data in chunks {
            text += String(decoding: data, as: UTF8.self)
            // The rest goes on being read, and thrown away, by the handler: a full pipe would stop the server.
            if text.contains("] listening") || text.contains(" listening") { return }
        }
        throw DidNotStart(description: text)
    }

    deinit {
        // A test that failed in between must not leave a server behind.
        if process.isRunning { kill() }
    }

    /// Ends it as a failure of power would: without a word.
    func kill() {
        _ = sendSignal(process.processIdentifier, SIGKILL)
    }

    /// Waits until it is gone.
    func waitUntilEnded() async {
        for await _ in ended {}
    }
}

private func sendSignal(_ process: Int32, _ signal: Int32) -> Int32 {
    kill(process, signal)
}
