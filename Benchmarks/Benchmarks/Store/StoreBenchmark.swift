import Benchmark
import Foundation
import GRDB
import IdentityEngine
import StoreSQLite
import Synchronization

/// The SQLite store, durable (WAL, synchronous FULL): commits alone and sixteen at a time, and reads of one record among few and among
/// many, beside SQLite's own insert.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(metrics: [.throughput, .wallClock], warmupIterations: 3, maxDuration: .seconds(3))

    let raw = StoreOnDisk(records: 0)
    Benchmark("raw insert, one flush each", configuration: .init(scalingFactor: .kilo)) { benchmark in
        let database = try raw.openRaw()
        let count = benchmark.scaledIterations.count
        benchmark.startMeasurement()
        try await database.writeWithoutTransaction { db in
            for _ in 0..<count { try db.execute(sql: "INSERT INTO t (b) VALUES (?)", arguments: [Data(raw.payload)]) }
        }
    } teardown: {
        raw.remove()
    }

    for width in [1, 16] {
        let data = StoreOnDisk(records: 0)
        Benchmark("\(width) commits at a time", configuration: .init(scalingFactor: width == 1 ? .one : .kilo)) { benchmark in
            try await data.commit(benchmark.scaledIterations.count, width: width)
        } setup: {
            try await data.fill()
        } teardown: {
            data.remove()
        }
    }

    for records in [1_000, 200_000] {
        let data = StoreOnDisk(records: records)
        Benchmark("16 reads at a time, of \(records)", configuration: .init(scalingFactor: .kilo)) { benchmark in
            try await data.read(benchmark.scaledIterations.count, width: 16)
        } setup: {
            try await data.fill()
        } teardown: {
            data.remove()
        }
    }
}

/// A store on disk with records in it.
final class StoreOnDisk: Sendable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "countersign-bench-\(UUID().uuidString)")
    let payload = [UInt8](repeating: 0x61, count: 400)
    let records: Int
    private let opened = Mutex<SQLiteStore?>(nil)

    init(records: Int) {
        self.records = records
    }

    func fill() async throws {
        let store = try SQLiteStore(path: folder.appending(path: "store.sqlite").path)
        opened.withLock { $0 = store }
        for start in stride(from: 0, to: records, by: 500) {
            _ = try await store.commit((start..<min(start + 500, records)).map { .put(grant("grant-\($0)")) })
        }
    }

    /// A table of its own, with the same durability.
    func openRaw() throws -> DatabaseQueue {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let database = try DatabaseQueue(path: folder.appending(path: "raw.sqlite").path)
        try database.writeWithoutTransaction { db in
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
            try db.execute(sql: "PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, b BLOB)")
        }
        return database
    }

    func commit(_ count: Int, width: Int) async throws {
        let store = try store()
        try await spread(count, width) { [self] _ in _ = try await store.commit([.put(grant(UUID().uuidString))]) }
    }

    func read(_ count: Int, width: Int) async throws {
        let store = try store()
        try await spread(count, width) { [records] number in
            let id = "grant-\(number &* 7919 % records)"
            blackHole(try await store.read { try $0.record(.grant, id: id) })
        }
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }

    private func store() throws -> SQLiteStore {
        guard let store = opened.withLock({ $0 }) else { throw CancellationError() }
        return store
    }

    private func grant(_ id: String) -> IdentityEngineRecord {
        IdentityEngineRecord(kind: .grant, id: id, expiresAt: Date(timeIntervalSince1970: 4e9), payload: payload)
    }

    private func spread(_ count: Int, _ width: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<width {
                group.addTask {
                    for number in stride(from: lane, to: count, by: width) { try await body(number) }
                }
            }
            try await group.waitForAll()
        }
    }
}
