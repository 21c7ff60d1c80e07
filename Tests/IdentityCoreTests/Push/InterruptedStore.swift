import Foundation
import Synchronization

@testable import Store

/// A store that runs an action before its next commit, so that a test can order the steps of a race.
final class InterruptedStore: Store {
    let store: any Store
    private let beforeCommit = Mutex<(@Sendable () async throws -> Void)?>(nil)
    private let beforeReads = Mutex<[(@Sendable () async throws -> Void)?]>([])

    init(_ store: any Store) { self.store = store }

    /// Runs `body` before the next commit, so after the read of the same request.
    func beforeNextCommit(_ body: @escaping @Sendable () async throws -> Void) {
        beforeCommit.withLock { $0 = body }
    }

    /// Runs `body` before the second read after this call.
    func beforeSecondRead(_ body: @escaping @Sendable () async throws -> Void) {
        beforeReads.withLock { $0 = [nil, body] }
    }

    func read<Result: Sendable>(
        _ lookup: @escaping @Sendable () -> Lookup, _ body: @escaping @Sendable (any StoreView) throws -> Result
    ) async throws -> Result {
        let before = beforeReads.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        try await before?()
        return try await store.read(lookup, body)
    }

    func commit(_ changes: [Change]) async throws -> CommitOutcome {
        let before = beforeCommit.withLock { body in
            defer { body = nil }
            return body
        }
        try await before?()
        return try await store.commit(changes)
    }

    func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result { try await work() }
    func removeExpired(now: Date, limit: Int) async throws -> Int { try await store.removeExpired(now: now, limit: limit) }
    func close() async throws { try await store.close() }
}
