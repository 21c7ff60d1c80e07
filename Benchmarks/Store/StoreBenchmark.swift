import Foundation
import GRDB
import Store
import StoreSQLite

// GRDB has a class with the same name.
import struct Store.Record

/// Measures the durable SQLite store (WAL, synchronous FULL): single and sixteen concurrent commits, and reads of one record among few and
/// among many, compared with a plain SQLite insert. It prints the operations per second and the median time of an operation.
///
/// The benchmark is a target of the main package, because the store is not a product.
@main
struct StoreBenchmark {
    private static let seconds = 3.0

    static func main() async throws {
        let raw = StoreOnDisk(records: 0)
        let database = try raw.openRaw()
        try await measure("raw insert, one flush each", width: 1) { _ in
            try await database.writeWithoutTransaction { db in
                try db.execute(sql: "INSERT INTO t (b) VALUES (?)", arguments: [Data(raw.payload)])
            }
        }
        raw.remove()
        for width in [1, 16] {
            let data = StoreOnDisk(records: 0)
            let store = try await data.fill()
            try await measure("\(width) commits at a time", width: width) { _ in
                _ = try await store.commit([.put(data.grant(UUID().uuidString))])
            }
            data.remove()
        }
        for records in [1_000, 200_000] {
            let data = StoreOnDisk(records: records)
            let store = try await data.fill()
            try await measure("16 reads at a time, of \(records)", width: 16) { number in
                let id = "grant-\(number &* 7919 % records)"
                guard try await store.read({ try $0.record(.grant, id: id) }) != nil else { throw CancellationError() }
            }
            data.remove()
        }
    }

    /// Repeats an operation in parallel tasks for ``seconds`` seconds, after a warm-up of a tenth of that time.
    private static func measure(_ name: String, width: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        let start = ContinuousClock.now
        let (warm, end) = (start.advanced(by: .seconds(seconds / 10)), start.advanced(by: .seconds(seconds * 1.1)))
        let times = try await withThrowingTaskGroup(of: [Double].self) { group in
            for lane in 0..<width {
                group.addTask {
                    var own: [Double] = []
                    var number = lane
                    while true {
                        let before = ContinuousClock.now
                        guard before < end else { return own }
                        try await body(number)
                        number += width
                        if before >= warm { own.append(before.duration(to: .now) / .microseconds(1)) }
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let sorted = times.sorted()
        let median = sorted.isEmpty ? 0 : sorted[sorted.count / 2]
        print("\(name): \(Int(Double(sorted.count) / seconds))/s, median \(Int(median)) µs")
    }
}

/// A store on disk that contains records.
struct StoreOnDisk: Sendable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "countersign-bench-\(UUID().uuidString)")
    let payload = [UInt8](repeating: 0x61, count: 400)
    let records: Int

    func fill() async throws -> SQLiteStore {
        let store = try SQLiteStore(path: folder.appending(path: "store.sqlite").path)
        for start in stride(from: 0, to: records, by: 500) {
            _ = try await store.commit((start..<min(start + 500, records)).map { .put(grant("grant-\($0)")) })
        }
        return store
    }

    /// Returns a plain SQLite database with a table and the same durability.
    func openRaw() throws -> DatabaseQueue {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let database = try DatabaseQueue(path: folder.appending(path: "raw.sqlite").path)
        try database.writeWithoutTransaction { db in
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
            try db.execute(sql: "PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, b BLOB)")
        }
        return database
    }

    func grant(_ id: String) -> Record {
        Record(kind: .grant, id: id, expiresAt: Date(timeIntervalSince1970: 4e9), payload: payload)
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
}
