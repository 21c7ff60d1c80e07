package import Foundation
internal import NIOConcurrencyHelpers

/// A store in memory, for tests, sandboxes and previews. Safe from any task. A read copies the state under the lock and uses the copy
/// without the lock. The copy is cheap because it shares storage. Readers therefore see one snapshot and do not block others.
package final class InMemoryStore: Store {
    private let state: NIOLockedValueBox<State?>

    package init() {
        state = NIOLockedValueBox(State())
    }

    package func read<Result: Sendable>(
        _ lookup: @escaping @Sendable () -> Lookup, _ body: @escaping @Sendable (any StoreView) throws -> Result
    ) async throws -> Result {
        try body(InMemoryView(state: open()))
    }

    package func commit(_ changes: [Change]) async throws -> CommitOutcome {
        try state.withLockedValue { stored in
            guard var next = stored else { throw Self.closed }
            // Otherwise `next` and `stored` would share storage, and the first change would copy all of it.
            stored = nil
            var undo = UndoLog()
            for (index, change) in changes.enumerated() {
                if let conflict = next.apply(change, &undo) {
                    next.revert(undo)
                    stored = next
                    return .conflict(index: index, conflict)
                }
            }
            stored = next
            return .committed
        }
    }

    /// Only runs the work; there is no flush to share.
    package func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        try await work()
    }

    package func removeExpired(now: Date, limit: Int) async throws -> Int {
        try state.withLockedValue { stored in
            guard stored != nil else { throw Self.closed }
            return stored?.removeExpired(now: now, limit: limit) ?? 0
        }
    }

    /// A store in memory has no files.
    package func eraseRemains() async throws -> ErasureOutcome { .erased }

    /// Closes the store and discards its contents.
    package func close() async throws {
        state.withLockedValue { $0 = nil }
    }

    private func open() throws -> State {
        guard let state = state.withLockedValue({ $0 }) else { throw Self.closed }
        return state
    }

    private static let closed = StoreError(.closed, "The store was closed. Open a new one.")
}

extension InMemoryStore {
    struct IndexKey: Hashable {
        var kind: RecordKind
        var name: String
        var value: String
    }

    struct TicketKey: Hashable {
        var kind: TicketKind
        var digest: TicketDigest
    }

    /// Steps that undo the changes of a commit if a later change conflicts.
    struct UndoLog {
        var steps: [(inout State) -> Void] = []
    }

    struct State {
        var configurationVersion: Int64 = 0
        var records: [RecordKind: [String: Record]] = [:]
        var unique: [IndexKey: String] = [:]
        var indexed: [IndexKey: Set<String>] = [:]
        var tickets: [TicketKey: StoredTicket] = [:]
        var owned: [RecordReference: Set<TicketKey>] = [:]
    }
}

/// The snapshot of one read.
private struct InMemoryView: StoreView {
    let state: InMemoryStore.State

    func configurationVersion() throws -> Int64 { state.configurationVersion }

    func record(_ kind: RecordKind, id: String) throws -> Record? { state.records[kind]?[id] }

    func records(_ kind: RecordKind, where key: String, is value: String, limit: Int) throws -> [Record] {
        let index = InMemoryStore.IndexKey(kind: kind, name: key, value: value)
        let ids = (state.unique[index].map { [$0] } ?? []) + (state.indexed[index] ?? [])
        return Set(ids).sorted().prefix(limit).compactMap { state.records[kind]?[$0] }
    }

    func records(_ kind: RecordKind, after id: String?, limit: Int) throws -> [Record] {
        let ids = (state.records[kind] ?? [:]).keys.filter { key in id.map { key > $0 } ?? true }
        return ids.sorted().prefix(limit).compactMap { state.records[kind]?[$0] }
    }

    func ticket(_ kind: TicketKind, digest: TicketDigest, now: Date) throws -> TicketState {
        state.tickets[.init(kind: kind, digest: digest)]?.state(now: now) ?? .unknown
    }
}
