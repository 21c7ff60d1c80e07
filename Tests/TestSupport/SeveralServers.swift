internal import AuthFoundation
package import CountersignSandbox
internal import Foundation
package import Store
package import Testing

#if PostgreSQL
internal import StorePostgreSQL
#endif

/// The setup of `make instances`. With `COUNTERSIGN_INSTANCES=2`, two servers share a PostgreSQL database, and a proxy forwards each
/// connection to the next server. So each flow begins at one server and continues at the other.
package enum SeveralServers {
    /// The number of servers in each test.
    package static let count = ProcessInfo.processInfo.environment["COUNTERSIGN_INSTANCES"].flatMap { Int($0) } ?? 1

    /// Returns a store for each server. All stores use one new database, which has its tables.
    package static func stores() async throws -> [any Store] {
        #if PostgreSQL
        let server = try await PostgreSQLServer.shared.value
        var configuration = PostgreSQLConfiguration(url: try await server.newDatabase(copying: try await template.value))
        configuration.connections = 4
        var stores: [any Store] = []
        for _ in 0..<count { stores.append(try await PostgreSQLStore(configuration)) }
        return stores
        #else
        throw StoreError(.unavailable, "COUNTERSIGN_INSTANCES needs COUNTERSIGN_POSTGRESQL=1.")
        #endif
    }

    /// Returns a store on a new database, and a function that returns the number of round trips that requests waited for so far.
    package static func countedStore() async throws -> (store: any Store, roundTrips: @Sendable () -> Int) {
        #if PostgreSQL
        let count = Locked(0)
        let server = try await PostgreSQLServer.shared.value
        var configuration = PostgreSQLConfiguration(url: try await server.newDatabase(copying: try await template.value))
        configuration.connections = 2
        configuration.observeRoundTrip = { count.withLock { $0 += 1 } }
        return (try await PostgreSQLStore(configuration), { count.withLock { $0 } })
        #else
        throw StoreError(.unavailable, "Round trips need COUNTERSIGN_POSTGRESQL=1.")
        #endif
    }

    #if PostgreSQL
    /// The name of a database with the tables that the migrations create. New databases are copies of it.
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

extension Sandbox {
    /// Starts the sandbox of a test. With `COUNTERSIGN_INSTANCES=2`, the sandbox has two servers.
    package static func forTest(_ configuration: Configuration = Configuration()) async throws -> Sandbox {
        var configuration = configuration
        if SeveralServers.count > 1 {
            configuration.instances = Instances(stores: SeveralServers.stores) { ports in
                let proxy = try await HAProxy(to: ports)
                return (proxy.port, { await proxy.stop() })
            }
        }
        return try await start(configuration)
    }
}

extension Trait where Self == ConditionTrait {
    /// Enables a test only with one server, because each server has its own counts of requests, polls, connections and repeated lines of
    /// the log.
    package static var onOneServer: Self {
        .enabled(if: SeveralServers.count == 1, "Each server counts requests and connections for itself")
    }
}
