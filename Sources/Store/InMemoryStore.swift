package import Foundation

/// A store in memory: for tests, sandboxes and previews. Nothing outlives it.
///
/// Its state is one value behind one lock: a read takes a copy of it (which shares its storage) and then looks at that copy
/// without the lock, so that a reader holds up nobody and sees one snapshot. `Sendable`; safe from any task.
package final class InMemoryStore: Store {
    private let state: Locked<State?>

    /// Makes an empty store.
    package init() {
        state = Locked(State())
    }

    /// Reads a snapshot; see ``Store/read(_:)``.
    ///
    /// - Parameter body: Reads through the view.
    /// - Returns: What the body returned.
    /// - Throws: ``StoreError/Code/closed``, or what the body throws.
    package func read<Result: Sendable>(_ body: @escaping @Sendable (any StoreView) throws -> Result) async throws -> Result {
        try body(InMemoryView(state: open()))
    }

    /// Commits changes together; see ``Store/commit(_:)``.
    ///
    /// - Parameter changes: Applied in order.
    /// - Returns: Whether they were committed.
    /// - Throws: ``StoreError/Code/closed``.
    package func commit(_ changes: [Change]) async throws -> CommitOutcome {
        try state.withLock { stored in
            guard var next = stored else { throw Self.closed }
            // Without this, `next` and `stored` would share storage and the first change would copy all of it.
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

    /// Does the work; there is no flush to share. See ``Store/preparingCommit(_:)``.
    ///
    /// - Parameter work: Prepares the changes.
    /// - Returns: What the work returned.
    /// - Throws: What the work throws.
    package func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        try await work()
    }

    /// Removes what expired; see ``Store/removeExpired(now:limit:)``.
    ///
    /// - Parameters:
    ///   - now: What expired before it goes.
    ///   - limit: The most to remove, at least 1.
    /// - Returns: How many were removed.
    /// - Throws: ``StoreError/Code/closed``.
    package func removeExpired(now: Date, limit: Int) async throws -> Int {
        try state.withLock { stored in
            guard stored != nil else { throw Self.closed }
            return stored?.removeExpired(now: now, limit: limit) ?? 0
        }
    }

    /// Closes the store and forgets everything.
    package func close() async throws {
        state.withLock { $0 = nil }
    }

    private func open() throws -> State {
        guard let state = state.withLock({ $0 }) else { throw Self.closed }
        return state
    }

    private static let closed = StoreError(.closed, "The store was closed. Open a new one.")
}

extension InMemoryStore {
    struct RecordKey: Hashable {
        var kind: RecordKind
        var id: String
    }

    struct IndexKey: Hashable {
        var kind: RecordKind
        var name: String
        var value: String
    }

    struct TicketKey: Hashable {
        var kind: TicketKind
        var digest: TicketDigest
    }

    struct StoredTicket {
        enum Standing {
            case open
            case taken(at: Date, gave: [UInt8])
            case closed
        }

        var ticket: Ticket
        var standing: Standing

        func state(now: Date) -> TicketState {
            if let end = ticket.expiresAt, end <= now { return .expired(ticket) }
            return switch standing {
            case .open: .fresh(ticket)
            case .taken(let at, let gave): .taken(ticket, at: at, gave: gave)
            case .closed: .closed(ticket)
            }
        }
    }

    /// What the changes of one commit replaced, to put it back if a later change conflicts.
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

/// A snapshot; a class of its own would let the copy escape, so it is a value.
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
