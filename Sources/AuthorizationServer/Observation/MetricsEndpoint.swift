internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import IdentityCore
internal import JOSE
internal import Logging
internal import Metrics
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import ServerHTTP
internal import ServiceLifecycle
internal import Store

/// Serves the metrics at `/metrics` on a separate port, which the operator does not expose to clients.
struct MetricsEndpoint: Sendable {
    let metrics: PrometheusMetrics
    let port: PortUse
    let logger: Logger

    /// Runs until the task is cancelled or the service shuts down gracefully. Throws ``PortError`` if the port cannot be bound.
    func run() async throws {
        let settings = HTTP1Channel.Configuration(
            idleTimeout: .seconds(120),
            httpDecoderConfiguration: .init(maxHeaderFieldSize: 4096, maxHeaderListSize: 8192, maxHeaderFieldCount: 50))
        let http = AcceptedConnections.server(
            settings,
            limits: .init(
                connections: ConnectionLimit(most: 16, except: []), firstRequestTimeout: .seconds(10), answerTimeout: .seconds(30)))
        let server = try http.buildServer(
            configuration: .init(
                address: .hostname(port.host, port: port.port), availableConnectionsDelegate: .maximum(64, logger: logger)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger
        ) { [metrics] request, writer, _ in
            guard request.uri.path == "/metrics", request.method == .get else {
                return try await writer.write(response: HTTPResponse(status: .notFound), body: ResponseBody())
            }
            let head = HTTPResponse(status: .ok, headerFields: [.contentType: "text/plain; version=0.0.4; charset=utf-8"])
            try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text())))
        }
        try await port.binding { try await server.run() }
    }
}

/// Counts the lines of the system log in `countersign_events_total`, by type and outcome: sign-ins by factor, tokens by grant, lockouts.
final class EventMetrics: Sendable {
    private struct Key: Hashable, Sendable {
        let type: String
        let outcome: String
    }

    private let counters = NIOLockedValueBox<[Key: Counter]>([:])

    func record(_ type: String, _ outcome: IdentityCore.LogEvent.Outcome) {
        let key = Key(type: type, outcome: outcome.rawValue)
        let counter = counters.withLockedValue { counters in
            if let known = counters[key] { return known }
            let counter = Counter(label: "countersign_events_total", dimensions: [("type", type), ("outcome", key.outcome)])
            counters[key] = counter
            return counter
        }
        counter.increment()
    }
}

/// A store that measures another one: `countersign_store_duration_seconds` by operation, `countersign_store_conflicts_total`, and
/// `countersign_store_failures_total`.
struct ObservedStore: Store {
    private let inner: any Store
    private let reads = Metrics.Timer(label: "countersign_store_duration_seconds", dimensions: [("operation", "read")])
    private let commits = Metrics.Timer(label: "countersign_store_duration_seconds", dimensions: [("operation", "commit")])
    private let conflicts = Counter(label: "countersign_store_conflicts_total")
    private let failures = Counter(label: "countersign_store_failures_total")

    init(_ inner: any Store) { self.inner = inner }

    func read<Result: Sendable>(
        _ lookup: @escaping @Sendable () -> Lookup, _ body: @escaping @Sendable (any StoreView) throws -> Result
    ) async throws -> Result {
        try await measure(reads) { try await inner.read(lookup, body) }
    }

    func commit(_ changes: [Change]) async throws -> CommitOutcome {
        let outcome = try await measure(commits) { try await inner.commit(changes) }
        if case .conflict = outcome { conflicts.increment() }
        return outcome
    }

    func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result { try await inner.preparingCommit(work) }

    func removeExpired(now: Date, limit: Int) async throws -> Int { try await inner.removeExpired(now: now, limit: limit) }

    func eraseRemains() async throws -> ErasureOutcome { try await inner.eraseRemains() }

    func close() async throws { try await inner.close() }

    private func measure<Result>(_ timer: Metrics.Timer, _ work: () async throws -> Result) async throws -> Result {
        let start = ContinuousClock.now
        do {
            let result = try await work()
            timer.recordNanoseconds(start.duration(to: .now).nanoseconds)
            return result
        } catch {
            // The body also throws refusals of a request, which are no failures of the store.
            if error is StoreError { failures.increment() }
            throw error
        }
    }
}

extension Duration {
    /// The whole nanoseconds; the maximum if they do not fit.
    var nanoseconds: Int64 {
        let (seconds, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : seconds &+ components.attoseconds / 1_000_000_000
    }
}

/// The gauges of a server: queues, keys and the process.
enum ServerGauges {
    static func samples(of engine: Engine, heldPolls: Int) -> [PrometheusMetrics.Sample] {
        let now = SystemWallClock().now
        let keys = engine.latestSnapshot?.keyRing.ages(now: now) ?? [:]
        return [
            .init("countersign_password_hashes_waiting", Double(engine.environment.passwordHasher.waitingCount)),
            .init("countersign_held_polls", Double(heldPolls)),
        ]
            + keys.map { .init("countersign_signing_key_age_seconds", $1, dimensions: [("algorithm", $0.rawValue)]) }
            + process
    }

    /// The memory and the open files of the process, from `/proc`; empty except on Linux.
    private static var process: [PrometheusMetrics.Sample] {
        guard let memory = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return [] }
        let pages = memory.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        return [
            .init("process_resident_memory_bytes", pages * Double(sysconf(Int32(_SC_PAGESIZE)))),
            .init("process_open_fds", Double(descriptors)),
        ]
    }
}
