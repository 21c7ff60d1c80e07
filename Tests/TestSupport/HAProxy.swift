internal import Foundation

/// Debian's HAProxy, which forwards each connection, or each request, to the next of several servers.
public struct HAProxy: Sendable {
    /// The port that clients connect to.
    public let port: Int
    private let folder = TemporaryFolder()

    /// Starts the proxy, which then accepts connections.
    ///
    /// - Parameters:
    ///   - ports: The ports of the servers on this machine.
    ///   - choosesByRequest: Whether the proxy chooses a server for each request, and only among those that are ready. Otherwise it chooses
    ///     a server for each connection, and forwards the bytes unchanged.
    /// - Throws: ``ChildProcess/NotWritten`` with the proxy's output if it does not start.
    public init(to ports: [Int], choosesByRequest: Bool = false) async throws {
        port = try SitePort().number
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let check = choosesByRequest ? " check inter 200ms fall 1 rise 1" : ""
        let servers = ports.enumerated().map { "    server s\($0.offset) 127.0.0.1:\($0.element)\(check)" }.joined(separator: "\n")
        let mode =
            choosesByRequest ? "mode http\n    option httpchk GET /health/ready\n    option redispatch 1\n    http-reuse never" : "mode tcp"
        let text = """
            global
                maxconn 1000
            defaults
                \(mode)
                timeout connect 5s
                timeout client 120s
                timeout server 120s
            listen servers
                bind 127.0.0.1:\(port)
                balance roundrobin
            \(servers)

            """
        try Data(text.utf8).write(to: folder.file("haproxy.cfg"))
        // With `-D`, the command returns when the proxy listens, and the proxy continues in the background.
        let ended = try await ChildProcess.run(
            OutsidePart.haProxy.executable, ["-D", "-q", "-p", folder.file("pid").path, "-f", folder.file("haproxy.cfg").path])
        guard ended.status == 0 else { throw ChildProcess.NotWritten(description: ended.errors) }
    }

    /// Stops the proxy and closes its connections.
    public func stop() async {
        _ = try? await ChildProcess.run(URL(filePath: "/bin/bash"), ["-c", "kill -9 $(cat '\(folder.file("pid").path)')"])
    }
}
