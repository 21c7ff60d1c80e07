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
    /// - Parameter database: The URL of a PostgreSQL database, instead of SQLite in the data folder.
    init(config: String, data: String, port: Int, database: String? = nil) async throws {
        let environment = database.map { ["COUNTERSIGN_DATABASE": $0] } ?? [:]
        process = try Command.start(["serve", "--config", config, "--data", data, "--port", "\(port)"], environment: environment)
        try await process.waitFor(" listening")
    }

    /// Kills the server without a graceful stop, like a power failure.
    func kill() { process.kill() }

    /// Waits until the process has exited.
    func waitUntilEnded() async { _ = await process.end() }
}

/// Several servers of one organization, which share a PostgreSQL database and the master key, and nothing else.
struct ServerInstances {
    let ports: [Int]
    private let config: String
    private let data: String
    private let database: String
    private let folder: TemporaryFolder
    private(set) var processes: [ServerProcess] = []

    /// Creates the database's tables with the command, and starts the servers one after the other.
    init(_ count: Int, organization: (_ origin: String) -> String) async throws {
        folder = try TemporaryFolder()
        ports = try (0..<count).map { _ in try SitePort().number }
        config = try folder.write(organization("http://127.0.0.1:\(ports[0])"), to: "org.yaml")
        data = folder.path + "data"
        database = try await PostgreSQLServer.shared.value.newDatabase()
        let migrated = try await Command.run(["store", "migrate", "--config", config, "--database", database])
        try #require(migrated.status == 0, "\(migrated.errors)")
        for index in ports.indices { processes.append(try await start(index)) }
    }

    private func start(_ index: Int) async throws -> ServerProcess {
        try await ServerProcess(config: config, data: data, port: ports[index], database: database)
    }

    /// Starts a server again after it was killed.
    mutating func restart(_ index: Int) async throws { processes[index] = try await start(index) }

    /// Sends a form to one of the servers and returns the status and the members of the response.
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
    }
}
