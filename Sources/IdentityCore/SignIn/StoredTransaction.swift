package import Foundation
package import Store

extension SignInTransaction {
    /// Seconds that a transaction, and what leads to it, is kept after its end, so that who comes late is told so.
    package static let keptAfter: TimeInterval = 600

    /// The record to store in place of the version that was read; 0 for a new one.
    package func record(version: Int64 = 0) throws -> Record {
        var keys = userID.map { ["user": $0] } ?? [:]
        // Apart from those that were sent to no device: who signs in often must not hide what waits for an answer.
        if challenge != nil { keys["challenged"] = userID }
        return Record(
            kind: .transaction, id: id, version: version, indexedKeys: keys, expiresAt: expiresAt.addingTimeInterval(Self.keptAfter),
            payload: try RecordCoding.encode(self))
    }
}

/// A transaction with the version that a write must name.
package struct StoredTransaction: Sendable {
    package var value: SignInTransaction
    package var version: Int64

    package init(_ record: Record) throws {
        value = try RecordCoding.decode(SignInTransaction.self, from: record)
        version = record.version
    }

    /// The change that writes its next state.
    package func writing(_ next: SignInTransaction) throws -> Change { .put(try next.record(version: version)) }
}

extension StoreView {
    /// The transaction that a ticket leads to, and what the ticket was; nil if there is no such ticket.
    package func transaction(_ kind: TicketKind, secret: String, now: Date) throws -> (StoredTransaction, TicketState)? {
        let state = try ticket(kind, digest: TicketDigest(of: secret), now: now)
        guard let owner = state.ticket?.owner, owner.kind == .transaction, let record = try record(.transaction, id: owner.id) else {
            return nil
        }
        return (try StoredTransaction(record), state)
    }
}
