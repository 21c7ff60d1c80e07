package import Foundation
package import Store

extension SignInTransaction {
    /// The time in seconds for which a transaction and its tickets are kept after they expire, so that late requests get a clear response.
    package static let keptAfter: TimeInterval = 600

    /// Returns the record that replaces the given version; 0 for a new record.
    package func record(version: Int64 = 0) throws -> Record {
        var keys = userID.map { ["user": $0] } ?? [:]
        // Only sign-ins with a challenge have this key: many other sign-ins of the user must not hide an open challenge.
        if challenge != nil { keys["challenged"] = userID }
        // The lookup of a code finds the session by this key.
        keys["session"] = sessionID
        return Record(
            kind: .transaction, id: id, version: version, indexedKeys: keys, expiresAt: expiresAt.addingTimeInterval(Self.keptAfter),
            payload: try RecordCoding.encode(self))
    }
}

/// A transaction with the version of its record.
package struct StoredTransaction: Sendable {
    package var value: SignInTransaction
    package var version: Int64

    init(_ value: SignInTransaction, version: Int64) { (self.value, self.version) = (value, version) }

    package init(_ record: Record) throws {
        version = record.version
        do {
            value = try RecordCoding.decode(SignInTransaction.self, from: record)
        } catch {
            // Version 0.1 wrote other members. Its sign-ins, recoveries and activation links count as cancelled: users begin again, and an
            // administrator sends a new activation link.
            guard let earlier = try? RecordCoding.decode(EarlierTransaction.self, from: record), earlier.rules == nil else { throw error }
            value = earlier.cancelled
        }
    }

    /// Returns the change that stores the next state.
    package func writing(_ next: SignInTransaction) throws -> Change { .put(try next.record(version: version)) }
}

/// The members that a transaction of version 0.1 shares with ``SignInTransaction``. A transaction of that version has no `rules`.
private struct EarlierTransaction: Decodable {
    let id: String
    let applicationID: String
    let server: String?
    let userID: String?
    let createdAt: Date
    let expiresAt: Date
    let rules: DoorRules?

    var cancelled: SignInTransaction {
        let application = Application(id: applicationID, name: "", kind: .service, signOnPolicy: "")
        var transaction = SignInTransaction(
            id: id, request: SignInRequest(application: application, server: server, scopes: []), now: createdAt,
            lifetime: expiresAt.timeIntervalSince(createdAt))
        transaction.userID = userID
        transaction.end = .cancelled
        return transaction
    }
}

extension StoreView {
    /// Returns the transaction of a ticket, and the state of the ticket; `nil` if either is unknown.
    package func transaction(_ kind: TicketKind, secret: String, now: Date) throws -> (StoredTransaction, TicketState)? {
        let state = try ticket(kind, digest: TicketDigest(of: secret), now: now)
        guard let owner = state.ticket?.owner, owner.kind == .transaction, let record = try record(.transaction, id: owner.id) else {
            return nil
        }
        return (try StoredTransaction(record), state)
    }
}
