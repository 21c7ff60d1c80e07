#if PostgreSQL
import Foundation
import TestSupport
import Testing

@Suite(
    "Failover: three servers behind a proxy, and PostgreSQL with a synchronous standby",
    .enabled(if: OutsidePart.haProxy.isEnabled, Comment(rawValue: OutsidePart.haProxy.missingNote)))
struct FailoverTests {
    private static let rounds = ProcessInfo.processInfo.environment["COUNTERSIGN_FAILOVER_ROUNDS"].flatMap(Int.init) ?? 1

    @Test(
        "Under load, kills, failovers, network cuts and rolling upgrades lose no refresh token or approval, and no code or approval is accepted twice",
        .timeLimit(.minutes(60)))
    func everyFault() async throws {
        var databases = try await ReplicatedDatabase()
        var servers = try await ServerInstances(3, database: try databases.url(), isProxied: true) {
            LoadUsers.organization(origin: $0)
        }
        let count = LoadCount()
        let users = Task { [client = LoadClient(port: servers.port, count: count)] in
            defer { count.stop() }
            try await LoadUsers(client: client).run()
        }
        do {
            try await count.progress(100)
            for round in 1...Self.rounds {
                let before = (count.now, ContinuousClock.now)
                try await kill(&servers, round, count)
                try await rollingUpgrade(&servers, count)
                try await cutNetwork(databases, count)
                try await promoteStandby(&databases, count)
                let (seconds, now) = ((ContinuousClock.now - before.1).components.seconds, count.now)
                print(
                    "Failover round \(round): \(now.total - before.0.total) answers in \(seconds) s,",
                    "\(now.unanswered - before.0.unanswered) repeated requests, longest wait \(now.longestWait)")
            }
        } catch {
            users.cancel()
            _ = await users.result
            // The logs of the servers explain why the load stopped.
            for process in servers.processes { print(String(await process.log().suffix(2_000))) }
            await servers.stop()
            throw error
        }
        count.stop()
        try await users.value
        #expect(Set(count.now.answers.keys).isSuperset(of: ["refresh", "push: replay", "code: replay", "classic", "page"]))
        await servers.stop()
    }

    // MARK: - Faults

    /// Kills one server without notice, and starts it again under load.
    private func kill(_ servers: inout ServerInstances, _ round: Int, _ count: LoadCount) async throws {
        let index = round % servers.ports.count
        servers.processes[index].kill()
        await servers.processes[index].waitUntilEnded()
        try await count.progress(100)
        try await servers.restart(index)
        try await count.progress(50)
    }

    /// Replaces one server after the other. Each completes the requests that it has accepted, so no request is lost.
    private func rollingUpgrade(_ servers: inout ServerInstances, _ count: LoadCount) async throws {
        let before = count.now.unanswered
        for index in servers.ports.indices {
            servers.processes[index].interrupt()
            await servers.processes[index].waitUntilEnded()
            try await servers.restart(index)
            try await count.progress(50)
        }
        #expect(count.now.unanswered == before, "A rolling upgrade lost requests.")
    }

    /// Interrupts the network between the servers and the databases for ten seconds.
    private func cutNetwork(_ databases: ReplicatedDatabase, _ count: LoadCount) async throws {
        databases.networks.forEach { $0.stop() }
        // The fault lasts for ten real seconds.
        try await Task.sleep(for: .seconds(10))
        databases.networks.forEach { $0.resume() }
        try await count.progress(100)
    }

    /// Kills the primary database without notice, promotes its standby, and adds a new standby.
    private func promoteStandby(_ databases: inout ReplicatedDatabase, _ count: LoadCount) async throws {
        try await databases.failOver()
        try await count.progress(100)
        try await databases.addStandby()
        try await count.progress(50)
    }
}

/// A primary PostgreSQL server and its synchronous standby. Each is behind a proxy of the test. The port of the proxy stays the same when
/// the database behind it is replaced.
private struct ReplicatedDatabase {
    private var nodes: [PostgreSQLServer]
    private(set) var networks: [CuttingProxy]
    private var primary = 0
    private let name: String

    init() async throws {
        let first = try await PostgreSQLServer()
        name = String(try await first.newDatabase().split(separator: "/").last ?? "")
        nodes = [first, try await PostgreSQLServer(following: first)]
        networks = try nodes.map { try CuttingProxy(to: $0.port) }
    }

    /// Returns a URL with both servers. The client selects the one that accepts writes.
    func url() throws -> String {
        let hosts = networks.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        return "postgres://countersign@\(hosts)/\(name)?target_session_attrs=read-write"
    }

    mutating func failOver() async throws {
        try await nodes[primary].crash()
        primary = 1 - primary
        try await nodes[primary].promote()
    }

    /// Starts a new standby in place of the killed server.
    mutating func addStandby() async throws {
        let standby = try await PostgreSQLServer(following: nodes[primary])
        nodes[1 - primary] = standby
        networks[1 - primary].retarget(to: standby.port)
    }
}
#endif
