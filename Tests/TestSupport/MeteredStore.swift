package import Foundation
package import Store
internal import Synchronization

/// A store that counts the reads and writes of an engine, and the queries that the lookup of a read does not declare.
package final class MeteredStore: Store {
    private let inner: any Store
    private let counts = Mutex<[String: Int]>([:])

    /// Creates a store that counts the calls to another store.
    package init(_ inner: any Store = InMemoryStore()) { self.inner = inner }

    /// Returns the counts since the last call of this method, by operation name.
    package func take() -> [String: Int] {
        counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
    }

    fileprivate func count(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }

    /// Reads from the inner store, and counts the read and each query of the view.
    package func read<Result: Sendable>(
        _ lookup: @escaping @Sendable () -> Lookup, _ body: @escaping @Sendable (any StoreView) throws -> Result
    ) async throws -> Result {
        count("read")
        return try await inner.read(lookup) { [self] view in
            try body(MeteredView(inner: view, found: view.found(by: lookup()), store: self))
        }
    }

    /// Commits to the inner store, and counts the commit and each change.
    package func commit(_ changes: [Change]) async throws -> CommitOutcome {
        count("commit")
        for change in changes { count(Self.name(of: change)) }
        return try await inner.commit(changes)
    }

    /// Returns the operation name of a change. Account and factor records count as one kind, because an attacker cannot see which of them a
    /// failure writes.
    private static func name(of change: Change) -> String {
        switch change {
        case .put(let record):
            [.user, .decoy, .enrollment].contains(record.kind) ? "put account" : "put \(record.kind.rawValue)"
        case .unchanged(let record, _):
            [.user, .decoy, .enrollment].contains(record.kind) ? "unchanged account" : "unchanged \(record.kind.rawValue)"
        case .remove(let kind, _, _): "remove \(kind.rawValue)"
        case .issue(let ticket): "issue \(ticket.kind.rawValue)"
        case .take(let kind, _, _, _): "take \(kind.rawValue)"
        case .retake(let kind, _, _, _, _): "retake \(kind.rawValue)"
        case .require(let kind, _, _): "require \(kind.rawValue)"
        case .requireConfiguration: "require configuration"
        case .close(let kind, _): "close \(kind.rawValue)"
        case .closeTickets: "close tickets"
        }
    }

    /// Calls the inner store without counting.
    package func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        try await inner.preparingCommit(work)
    }

    /// Removes expired records without counting.
    package func removeExpired(now: Date, limit: Int) async throws -> Int { try await inner.removeExpired(now: now, limit: limit) }

    /// Closes the inner store without counting.
    package func close() async throws { try await inner.close() }
}

private struct MeteredView: StoreView {
    let inner: any StoreView
    let found: FoundRows
    let store: MeteredStore

    func configurationVersion() throws -> Int64 {
        store.count("configuration version")
        return try inner.configurationVersion()
    }

    func record(_ kind: RecordKind, id: String) throws -> Record? {
        store.count("record \(kind.rawValue)")
        if found.record(kind, id) == nil { store.count("undeclared record \(kind.rawValue)") }
        return try inner.record(kind, id: id)
    }

    func records(_ kind: RecordKind, where key: String, is value: String, limit: Int) throws -> [Record] {
        store.count("records \(kind.rawValue) by \(key)")
        if found.list(kind, where: key, is: value, limit: limit) == nil { store.count("undeclared records \(kind.rawValue) by \(key)") }
        return try inner.records(kind, where: key, is: value, limit: limit)
    }

    func records(_ kind: RecordKind, after id: String?, limit: Int) throws -> [Record] {
        store.count("all \(kind.rawValue)")
        return try inner.records(kind, after: id, limit: limit)
    }

    func ticket(_ kind: TicketKind, digest: TicketDigest, now: Date) throws -> TicketState {
        store.count("ticket \(kind.rawValue)")
        if found.ticket(kind, digest, now: now) == nil { store.count("undeclared ticket \(kind.rawValue)") }
        return try inner.ticket(kind, digest: digest, now: now)
    }
}

extension StoreView {
    /// Returns the rows of a lookup, which are the rows that a read declares.
    fileprivate func found(by lookup: Lookup) throws -> FoundRows {
        try FoundRows(
            lookup,
            from: FoundRows.Source { _, kind, digest in
                try self.ticket(kind, digest: digest, now: .distantPast).ticket.map { StoredTicket(ticket: $0, standing: .open) }
            } record: { _, reference in
                try self.record(reference.kind, id: reference.id)
            } list: { _, kind, key, value, limit in
                try self.records(kind, where: key, is: value, limit: limit)
            })
    }
}
