package import Foundation

/// Where the server keeps its state: durable records and single-use tickets.
///
/// Every sentence of this contract is a test of the conformance suite that each implementation runs. Implementations
/// are safe from any task; no call blocks a cooperative thread.
package protocol Store: Sendable {
    /// Reads a consistent view of the store.
    ///
    /// The body runs synchronously on a thread of the store's own and sees one snapshot: what commits while it runs is
    /// not visible to it. What was committed before the call was made is.
    ///
    /// - Parameter body: Reads through the view; it must not escape.
    /// - Returns: What the body returned.
    /// - Throws: ``StoreError``, or what the body throws.
    func read<Result: Sendable>(_ body: @escaping @Sendable (any StoreView) throws -> Result) async throws -> Result

    /// Commits changes together: all of them or none.
    ///
    /// When the call returns ``CommitOutcome/committed`` the changes are on disk (an implementation in memory excepted).
    /// Commits that wait at the same time may share one flush; each still succeeds or conflicts by itself.
    ///
    /// - Parameter changes: Applied in order; a later one sees the earlier ones.
    /// - Returns: Whether the changes were committed, and if not, which change met what. A conflict is an outcome, not an error.
    /// - Throws: ``StoreError`` if the store failed; then nothing was committed.
    func commit(_ changes: [Change]) async throws -> CommitOutcome

    /// Does work that ends in a commit, so that commits which are ready may wait a moment for it and share its flush.
    ///
    /// A hint for the store's own timing: it changes nothing of what a commit means, and work that ends without one is harmless.
    ///
    /// - Parameter work: Prepares the changes, without reading; the caller commits them next.
    /// - Returns: What the work returned.
    /// - Throws: What the work throws.
    func preparingCommit<Result>(_ work: () async throws -> Result) async rethrows -> Result

    /// Removes expired tickets, expired records and log events past their time, at most `limit` of them.
    ///
    /// A ticket that was taken is kept until its expiry, so that its reuse is recognised.
    ///
    /// - Parameters:
    ///   - now: What expired before it goes.
    ///   - limit: The most rows to remove in one call, at least 1.
    /// - Returns: How many were removed; equal to `limit` when there may be more.
    /// - Throws: ``StoreError`` if the store failed.
    func removeExpired(now: Date, limit: Int) async throws -> Int

    /// Closes the store after the commits under way; later calls throw ``StoreError/Code/closed``.
    ///
    /// - Throws: ``StoreError`` if the last writes could not be flushed.
    func close() async throws
}

/// One consistent view of a ``Store``, valid only within ``Store/read(_:)``.
package protocol StoreView {
    /// A number that grows whenever a record of a configuration kind (``RecordKind/isConfiguration``) is written,
    /// by any process. A cache of configuration is good as long as it stands still.
    func configurationVersion() throws -> Int64

    /// The record with an id, or nil.
    func record(_ kind: RecordKind, id: String) throws -> Record?

    /// The records whose declared key has a value, ordered by id, at most `limit`.
    func records(_ kind: RecordKind, where key: String, is value: String, limit: Int) throws -> [Record]

    /// All records of a kind, ordered by id, that come after an id, at most `limit`.
    func records(_ kind: RecordKind, after id: String?, limit: Int) throws -> [Record]

    /// What is known of a ticket. An expired ticket is reported ``TicketState/expired(_:)`` even before it is removed.
    func ticket(_ kind: TicketKind, digest: TicketDigest, now: Date) throws -> TicketState
}

/// What a commit came to.
package enum CommitOutcome: Sendable, Equatable {
    /// All changes are in the store.
    case committed
    /// No change is; the change at `index` met this.
    case conflict(index: Int, Conflict)
}

/// Why a commit was not made.
package enum Conflict: Sendable, Equatable {
    /// The stored record has another version (0: there is none), so somebody else wrote it.
    case version(stored: Int64)
    /// A unique key already belongs to another record.
    case duplicateKey(String)
    /// The ticket to take, or to issue, was not in the state asked for.
    case ticket(TicketState)
    /// The configuration was written since it was read.
    case configuration(stored: Int64)
}

/// One change of a commit.
package enum Change: Sendable {
    /// Writes a record. Its `version` must be the stored one (0: it must not exist yet); the stored version grows by one.
    case put(Record)
    /// Requires that a record still has this version (0: that there is none); conflicts otherwise. Writes nothing.
    case unchanged(RecordReference, version: Int64)
    /// Removes a record that has this version, with every ticket that it owns.
    case remove(RecordKind, id: String, version: Int64)
    /// Stores a fresh ticket; conflicts if the digest is known.
    case issue(Ticket)
    /// Takes a fresh, unexpired ticket of ``Ticket/Use/once``, remembering when and what it gave; conflicts otherwise.
    case take(TicketKind, digest: TicketDigest, now: Date, gave: [UInt8])
    /// Replaces what a taken ticket gave, if it still gave `expected`; conflicts otherwise. (A retry within a grace period.)
    case retake(TicketKind, digest: TicketDigest, now: Date, expected: [UInt8], gave: [UInt8])
    /// Requires an unexpired ticket of ``Ticket/Use/untilClosed`` that is still open; conflicts otherwise.
    case require(TicketKind, digest: TicketDigest, now: Date)
    /// Requires that no configuration was written since this ``StoreView/configurationVersion()``; conflicts otherwise. (Who decided
    /// by a cached configuration.)
    case requireConfiguration(Int64)
    /// Closes one ticket for good; unknown ones are no conflict.
    case close(TicketKind, digest: TicketDigest)
    /// Closes every ticket that a record owns; none is no conflict.
    case closeTickets(of: RecordReference)
}
