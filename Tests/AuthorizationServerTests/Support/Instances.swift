import AuthorizationServer
import Foundation
import IdentityCore
import Store
import TestSupport
import Testing

#if PostgreSQL
import StorePostgreSQL
#endif

/// The servers of a test. Usually that is one, with a store in memory. With `COUNTERSIGN_INSTANCES=2`, two servers share a PostgreSQL database
/// and a proxy sends each connection to the next of them, so that each flow begins at one server and continues at the other.
struct Instances: Sendable {
    let servers: [AuthorizationServer]
    /// The stores, which close after the test; none in memory.
    private let stores: [any Store]

    /// Creates the servers.
    ///
    /// - Parameters:
    ///   - store: The store of the only server; `nil` for that of the set-up.
    ///   - makeServer: Creates a server on a store. The first call prepares the store.
    init(
        on store: (any Store)?, _ makeServer: (_ store: any Store, _ isFirst: Bool) async throws -> AuthorizationServer
    ) async throws {
        if let store {
            (servers, stores) = ([try await makeServer(store, true)], [])
            return
        }
        #if PostgreSQL
        if Self.count > 1 {
            let configuration = try await Self.database()
            var (servers, stores) = ([AuthorizationServer](), [any Store]())
            for index in 0..<Self.count {
                stores.append(try await PostgreSQLStore(configuration))
                servers.append(try await makeServer(stores[index], index == 0))
            }
            (self.servers, self.stores) = (servers, stores)
            return
        }
        #endif
        (servers, stores) = ([try await makeServer(InMemoryStore(), true)], [])
    }

    /// One server, whose store the caller owns.
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

    /// The number of servers in each test.
    static let count = ProcessInfo.processInfo.environment["COUNTERSIGN_INSTANCES"].flatMap { Int($0) } ?? 1

    /// Several servers read the configuration for each request, because tests change it and do not wait.
    static let configurationAge: Duration = count > 1 ? .zero : .seconds(1)

    #if PostgreSQL
    /// Returns a new database with tables: a copy of one that the migrations created.
    private static func database() async throws -> PostgreSQLConfiguration {
        let server = try await PostgreSQLServer.shared.value
        var configuration = PostgreSQLConfiguration(url: try await server.newDatabase(copying: try await template.value))
        configuration.connections = 4
        return configuration
    }

    private static let template = Task {
        let server = try await PostgreSQLServer.shared.value
        let url = try await server.newDatabase()
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
                continuation.resume(with: Swift.Result { try PostgreSQLSchema.migrate(PostgreSQLConfiguration(url: url)) })
            }
        }
        return String(url.split(separator: "/").last ?? "")
    }
    #endif
}

extension Trait where Self == ConditionTrait {
    /// For tests of what each server counts for itself: requests and polls per minute, connections, and repeated lines of the log.
    static var onOneServer: Self { .enabled(if: Instances.count == 1, "Each server counts requests and connections for itself") }
}
