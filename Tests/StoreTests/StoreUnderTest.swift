import Foundation
import Store
import StorePostgreSQL
import StoreSQLite
import TestSupport
import Testing

/// The store implementations that the conformance suite tests.
enum StoreUnderTest: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case memory, sqlite
    #if PostgreSQL
    case postgreSQL
    static let allCases: [Self] = OutsidePart.postgreSQL.isEnabled ? [.memory, .sqlite, .postgreSQL] : [.memory, .sqlite]
    #endif

    var testDescription: String { rawValue }

    /// Runs a test with a new store and closes it.
    func run(_ body: (any Store) async throws -> Void) async throws {
        switch self {
        case .memory:
            try await body(InMemoryStore())
        case .sqlite:
            try await withTemporaryFolder { folder in
                let store = try SQLiteStore(path: folder.appending(path: "store.sqlite").path)
                try await body(store)
                // The test may already have closed the store.
                try await store.close()
            }
        #if PostgreSQL
        case .postgreSQL:
            let store = try await PostgreSQLStore.inNewDatabase()
            try await body(store)
            try await store.close()
        #endif
        }
    }
}

#if PostgreSQL
extension PostgreSQLStore {
    /// Opens a store in a new database on the tests' PostgreSQL server.
    static func inNewDatabase() async throws -> PostgreSQLStore {
        let configuration = PostgreSQLConfiguration(url: try await PostgreSQLServer.shared.value.newDatabase())
        try PostgreSQLSchema.migrate(configuration)
        return try await PostgreSQLStore(configuration)
    }
}
#endif

/// Runs a test with a folder that is deleted afterwards.
func withTemporaryFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "countersign-store-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
}

extension Record {
    static func user(
        _ id: String, version: Int64 = 0, login: String? = nil, group: String? = nil, expiresAt: Date? = nil, payload: String = "{}"
    ) -> Record {
        Record(
            kind: .user, id: id, version: version, uniqueKeys: login.map { ["login": $0] } ?? [:],
            indexedKeys: group.map { ["group": $0] } ?? [:], expiresAt: expiresAt, payload: Array(payload.utf8))
    }
}

extension Ticket {
    static func refresh(
        _ secret: String, owner: String = "g1", use: Use = .once, expiresAt: Date? = nil, payload: [UInt8] = [7]
    ) -> Ticket {
        Ticket(
            kind: .refreshToken, digest: TicketDigest(of: secret), owner: RecordReference(.grant, owner), use: use, expiresAt: expiresAt,
            payload: payload)
    }
}

extension Store {
    func record(_ kind: RecordKind, _ id: String) async throws -> Record? {
        try await read { try $0.record(kind, id: id) }
    }

    func state(_ secret: String, kind: TicketKind = .refreshToken, now: Date = .init(timeIntervalSince1970: 1000)) async throws
        -> TicketState
    {
        try await read { try $0.ticket(kind, digest: TicketDigest(of: secret), now: now) }
    }
}
