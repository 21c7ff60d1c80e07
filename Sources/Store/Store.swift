package import Foundation

/// The server's durable state: versioned records and single-use tickets. Safe from any task; no call blocks a cooperative thread. A
/// conformance suite tests each statement of this contract for every implementation.
package protocol Store: Sendable {
    /// Reads one snapshot of the store. The snapshot contains all earlier commits, and none that happen while the body runs. The body runs
    /// synchronously on a thread of the store. The view must not escape.
    /// - Parameter lookup: Returns the rows that the body probably needs. A store that needs no hint does not call it.
    /// - Throws: ``StoreError``, or the body's error.
    func read<Result: Sendable>(
        _ lookup: @escaping @Sendable () -> Lookup, _ body: @escaping @Sendable (any StoreView) throws -> Result
    ) async throws -> Result

    /// Commits all changes or none, in order; later changes see earlier ones. A conflict is an outcome, not an error. After
    /// ``CommitOutcome/committed``, the changes are on disk (except in memory). Concurrent commits may share a flush; each succeeds or
    /// conflicts separately.
    /// - Throws: ``StoreError`` if the store failed; then nothing was committed.
    func commit(_ changes: [Change]) async throws -> CommitOutcome

    /// Runs work that precedes a commit, so that commits that are ready may wait briefly and share its flush. The work must not read the
    /// store; the caller commits next. This affects timing only. Work without a following commit is harmless.
    func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result

    /// Removes at most `limit` (at least 1) expired tickets and records. Returns the number of removed rows; if it equals `limit`, there
    /// may be more. A consumed ticket is kept until it expires, so that its reuse is detected.
    func removeExpired(now: Date, limit: Int) async throws -> Int

    /// Erases the bytes of replaced and removed records from the files of the database, where they otherwise stay for an unlimited time.
    /// Concurrent reads continue, and concurrent commits wait. Idempotent.
    /// - Throws: ``StoreError`` if the store failed; some bytes may then remain.
    func eraseRemains() async throws -> ErasureOutcome

    /// Closes the store after the pending commits; later calls throw ``StoreError/Code/closed``.
    /// - Throws: ``StoreError`` if the last writes could not be flushed.
    func close() async throws
}

extension Store {
    /// Reads one snapshot without declaring rows.
    package func read<Result: Sendable>(_ body: @escaping @Sendable (any StoreView) throws -> Result) async throws -> Result {
        try await read({ Lookup() }, body)
    }

    package func eraseRemains() async throws -> ErasureOutcome { .byOperator }
}

/// The result of ``Store/eraseRemains()``.
package enum ErasureOutcome: Sendable, Equatable {
    /// The files contain no replaced or removed record.
    case erased
    /// Other processes kept the database busy, so that some bytes may remain. Repeat the call.
    case busy
    /// The store cannot erase them. The operator must use the tools of the database.
    case byOperator
}

/// A snapshot of a ``Store``, valid only within ``Store/read(_:)``.
package protocol StoreView {
    /// Returns the counter of writes to configuration records (``RecordKind/isConfiguration``) by any process. A configuration cache is
    /// valid while the counter does not change.
    func configurationVersion() throws -> Int64

    func record(_ kind: RecordKind, id: String) throws -> Record?

    /// Returns the records with a unique or indexed key value, ordered by id.
    func records(_ kind: RecordKind, where key: String, is value: String, limit: Int) throws -> [Record]

    /// Returns the records of a kind after an id, ordered by id.
    func records(_ kind: RecordKind, after id: String?, limit: Int) throws -> [Record]

    /// Returns the state of a ticket. An expired ticket is ``TicketState/expired(_:)`` even before it is removed.
    func ticket(_ kind: TicketKind, digest: TicketDigest, now: Date) throws -> TicketState
}

/// The result of a commit.
package enum CommitOutcome: Sendable, Equatable {
    case committed
    /// Nothing was committed, because the change at `index` conflicted.
    case conflict(index: Int, Conflict)
}

/// The reason for a conflict.
package enum Conflict: Sendable, Equatable {
    /// The stored record has another version (0: it does not exist), because another commit changed it.
    case version(stored: Int64)
    /// A unique key already belongs to another record.
    case duplicateKey(String)
    /// The ticket was not in the required state.
    case ticket(TicketState)
    /// The configuration changed after it was read.
    case configuration(stored: Int64)
    /// The database asks to repeat the commit, because of a concurrent one. The index has no meaning.
    case contention
}

/// One change of a commit.
package enum Change: Sendable {
    /// Writes a record. Its `version` must be the stored one (0: it must not exist); the stored version increases by 1.
    case put(Record)
    /// Requires that a record still has this version (0: that it does not exist). Writes nothing.
    case unchanged(RecordReference, version: Int64)
    /// Removes a record that has this version, with all tickets that it owns.
    case remove(RecordKind, id: String, version: Int64)
    /// Stores a fresh ticket; conflicts if a ticket of this kind and digest exists.
    case issue(Ticket)
    /// Consumes a ticket of ``Ticket/Use/once``, and stores the time and `gave`, the result of its use. Conflicts if the ticket is not
    /// fresh or has expired.
    case take(TicketKind, digest: TicketDigest, now: Date, gave: [UInt8])
    /// Replaces the result of a consumed ticket if it is still `expected`; otherwise conflicts. Used for retries within a grace period.
    case retake(TicketKind, digest: TicketDigest, now: Date, expected: [UInt8], gave: [UInt8])
    /// Requires an open, unexpired ticket of ``Ticket/Use/untilClosed``; otherwise conflicts.
    case require(TicketKind, digest: TicketDigest, now: Date)
    /// Requires that the configuration has not changed since this ``StoreView/configurationVersion()``. Used for decisions on cached
    /// configuration.
    case requireConfiguration(Int64)
    /// Closes a ticket permanently; a no-op if it does not exist.
    case close(TicketKind, digest: TicketDigest)
    /// Closes all tickets that a record owns, if any.
    case closeTickets(of: RecordReference)
}
