internal import Foundation

/// A proxy of Debian that forwards each connection to the next of several servers, byte by byte.
public struct HAProxy: Sendable {
    /// The port that clients connect to.
    public let port: Int
    private let folder = TemporaryFolder()

    /// Starts the proxy, which then accepts connections.
    ///
    /// - Parameter ports: The ports of the servers on this machine.
    /// - Throws: ``ChildProcess/NotWritten`` with the proxy's output if it does not start.
    public init(to ports: [Int]) async throws {
        port = try SitePort().number
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let servers = ports.enumerated().map { "    server s\($0.offset) 127.0.0.1:\($0.element)" }.joined(separator: "\n")
        let text = """
            global
                maxconn 1000
            defaults
                mode tcp
                timeout connect 5s
                timeout client 120s
                timeout server 120s
            listen servers
                bind 127.0.0.1:\(port)
                balance roundrobin
            \(servers)

            """
        try Data(text.utf8).write(to: folder.file("haproxy.cfg"))
        // In the background, it returns when it listens.
        let ended = try await ChildProcess.run(
            OutsidePart.haProxy.executable, ["-D", "-q", "-p", folder.file("pid").path, "-f", folder.file("haproxy.cfg").path])
        guard ended.status == 0 else { throw ChildProcess.NotWritten(description: ended.errors) }
    }

    /// Stops the proxy and closes its connections.
    public func stop() async {
        _ = try? await ChildProcess.run(URL(filePath: "/bin/bash"), ["-c", "kill -9 $(cat '\(folder.file("pid").path)')"])
    }
}
