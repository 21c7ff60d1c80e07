import AuthorizationServer
import Foundation
import IdentityCore
import Store
import TestSupport
import Testing

/// The servers of a test: usually one server with a store in memory. With `COUNTERSIGN_INSTANCES=2`, two servers share a PostgreSQL
/// database, and a proxy forwards each connection to the next server. So each flow begins at one server and continues at the other.
struct Instances: Sendable {
    let servers: [AuthorizationServer]
    /// The stores to close after the test; empty for a store in memory.
    private let stores: [any Store]

    /// Creates the servers.
    ///
    /// - Parameters:
    ///   - store: The store of the only server; `nil` for the default stores.
    ///   - makeServer: Creates a server on a store. The first call prepares the store.
    init(
        on store: (any Store)?, _ makeServer: (_ store: any Store, _ isFirst: Bool) async throws -> AuthorizationServer
    ) async throws {
        if let store {
            (servers, stores) = ([try await makeServer(store, true)], [])
            return
        }
        if SeveralServers.count > 1 {
            var servers: [AuthorizationServer] = []
            stores = try await SeveralServers.stores()
            for (index, store) in stores.enumerated() { servers.append(try await makeServer(store, index == 0)) }
            self.servers = servers
            return
        }
        (servers, stores) = ([try await makeServer(InMemoryStore(), true)], [])
    }

    /// Creates the servers of a test with one server, whose store the caller owns.
    init(only server: AuthorizationServer) { (servers, stores) = ([server], []) }

    /// Runs the servers during a test, which gets the port that clients use.
    func run<Result: Sendable>(_ body: @Sendable (_ port: Int) async throws -> Result) async throws -> Result {
        let result = try await withThrowingTaskGroup(of: Void.self) { group in
            for server in servers { group.addTask { try await server.run() } }
            var ports: [Int] = []
            for server in servers { ports.append(try await server.boundPort) }
            let proxy = servers.count > 1 ? try await HAProxy(to: ports) : nil
            let result = try await body(proxy?.port ?? ports[0])
            await proxy?.stop()
            group.cancelAll()
            return result
        }
        for store in stores { try await store.close() }
        return result
    }

    /// Several servers read the configuration for each request, because tests change it and do not wait.
    static let configurationAge: Duration = SeveralServers.count > 1 ? .zero : .seconds(1)
}
