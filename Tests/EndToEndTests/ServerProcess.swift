import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `countersign serve` as a child process of the test.
final class ServerProcess: Sendable {
    private let process: ChildProcess

    /// Starts the server and waits until it reports that it is listening.
    ///
    /// - Parameters:
    ///   - database: The URL of a PostgreSQL database; `nil` for SQLite in the data folder.
    ///   - shutdownDelay: The seconds for which the server accepts connections after a signal to stop.
    init(config: String, data: String, port: Int, database: String? = nil, shutdownDelay: Int = 0) async throws {
        var environment = ["COUNTERSIGN_SHUTDOWN_DELAY": String(shutdownDelay)]
        environment["COUNTERSIGN_DATABASE"] = database
        process = try Command.start(["serve", "--config", config, "--data", data, "--port", "\(port)"], environment: environment)
        try await process.waitFor(" listening")
    }

    /// Kills the server, and returns its log.
    func log() async -> String {
        process.kill()
        return await process.end().text
    }

    /// Sends SIGINT, which asks the server to complete its requests and to stop.
    func interrupt() { process.interrupt() }

    /// Kills the server, so that it cannot complete its requests.
    func kill() { process.kill() }

    /// Waits until the process has exited.
    func waitUntilEnded() async { _ = await process.end() }
}

/// Several servers of one organization. They share only a PostgreSQL database and the master key.
struct ServerInstances {
    let ports: [Int]
    /// The port of the proxy; without a proxy, that of the first server.
    let port: Int
    private let proxy: HAProxy?
    private let config: String
    private let data: String
    private let database: String
    private let folder: TemporaryFolder
    private(set) var processes: [ServerProcess] = []

    /// Creates the database's tables with the command, and starts the servers one after the other.
    ///
    /// - Parameters:
    ///   - count: The number of servers.
    ///   - database: The URL of the database; `nil` for a new one.
    ///   - isProxied: Whether HAProxy sends each request to the next server that is ready. Clients then use its port.
    ///   - organization: Returns the org file.
    init(_ count: Int, database: String? = nil, isProxied: Bool = false, organization: (_ origin: String) -> String) async throws {
        folder = try TemporaryFolder()
        ports = try (0..<count).map { _ in try SitePort().number }
        proxy = isProxied ? try await HAProxy(to: ports, choosesByRequest: true) : nil
        port = proxy?.port ?? ports[0]
        config = try folder.write(organization("http://127.0.0.1:\(port)"), to: "org.yaml")
        data = folder.path + "data"
        if let database { self.database = database } else { self.database = try await PostgreSQLServer.shared.value.newDatabase() }
        let migrated = try await Command.run(["store", "migrate", "--config", config, "--database", self.database])
        try #require(migrated.status == 0, "\(migrated.errors)")
        for index in ports.indices { processes.append(try await start(index)) }
    }

    private func start(_ index: Int) async throws -> ServerProcess {
        try await ServerProcess(config: config, data: data, port: ports[index], database: database, shutdownDelay: proxy == nil ? 0 : 1)
    }

    /// Starts a server again after it was killed.
    mutating func restart(_ index: Int) async throws { processes[index] = try await start(index) }

    /// Sends a form to the server with this index, and returns the status and the members of the response.
    func post(_ path: String, _ form: [String: String], to index: Int) async throws -> (status: Int, members: [String: JSONValue]) {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(ports[index])\(path)")))
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        var components = URLComponents()
        components.queryItems = form.map { URLQueryItem(name: $0.key, value: $0.value) }
        request.httpBody = Data((components.percentEncodedQuery ?? "").replacing("+", with: "%2B").utf8)
        let (body, response) = try await PlainHTTP.data(for: request)
        return (response.statusCode, body.isEmpty ? [:] : try JSONValue(parsing: body).objectValue ?? [:])
    }

    /// Kills all servers.
    func stop() async {
        for process in processes { process.kill() }
        for process in processes { await process.waitUntilEnded() }
        await proxy?.stop()
    }
}
