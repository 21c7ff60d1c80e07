package import Foundation
package import Store

/// A user's session in a browser, with the proofs and their times; the payload of a session record. Each sign-in that uses the session
/// evaluates the proofs again. A session ends by expiry, by a password change or deactivation of the account, or by a sign-out.
package struct Session: Sendable, Equatable, Codable {
    /// A client that signed in with the session, and that is notified when the session ends.
    package struct Client: Sendable, Equatable, Codable {
        package var id: String
        /// The authorization server's id; `nil` for the org server.
        package var server: String?

        package init(id: String, server: String? = nil) {
            self.id = id
            self.server = server
        }
    }

    /// The maximum number of clients that a session records.
    static let mostClients = 100

    /// The session's id: `ses` and 17 characters; not a secret.
    package var id: String
    package var userID: String
    /// Snapshot of the account; a later change ends the session.
    package var account: Grant.AccountState
    /// The account's ``User/sessionsEndedAt`` at the start of the session; a different value ends the session.
    package var sessionsEndedAt: Date?
    /// The latest proof of each factor, ordered by time.
    package var proofs: [SignInTransaction.Proof]
    package var createdAt: Date
    package var lastUsedAt: Date
    /// Seconds without use after which the session expires.
    package var idle: Int
    /// The absolute expiry, regardless of use.
    package var endsAt: Date
    package var clients: [Client] = []
    /// The digest of the secret in the browser's cookie.
    package var ticket: [UInt8]
    /// The version of the record from which the session was read; 0 before the session is stored.
    var version: Int64 = 0

    private enum CodingKeys: String, CodingKey {
        case id, userID, account, sessionsEndedAt, proofs, createdAt, lastUsedAt, idle, endsAt, clients, ticket
    }

    /// Whether the session has expired or the current state of the account ends it.
    func isOver(for user: User, now: Date) -> Bool {
        now >= endsAt || now >= lastUsedAt.addingTimeInterval(TimeInterval(idle)) || user.id != userID || user.status != .active
            || !account.hasPassword(of: user) || sessionsEndedAt != user.sessionsEndedAt
    }

    /// Adds new proofs. The latest proof of each factor replaces earlier ones.
    package mutating func add(_ new: [SignInTransaction.Proof]) {
        proofs = (proofs.filter { old in !new.contains { $0.factor == old.factor } } + new).sorted { $0.time < $1.time }
    }

    package mutating func use(by client: Client, now: Date) {
        lastUsedAt = max(lastUsedAt, now)
        clients.removeAll { $0 == client }
        clients = clients.suffix(Self.mostClients - 1) + [client]
    }

    package func record() throws -> Record {
        Record(
            kind: .session, id: id, version: version, indexedKeys: ["user": userID], expiresAt: endsAt,
            payload: try RecordCoding.encode(self))
    }

    package var secretTicket: Ticket {
        Ticket(
            kind: .session, digest: TicketDigest(bytes: ticket), owner: RecordReference(.session, id), use: .untilClosed, expiresAt: endsAt)
    }
}

extension Session {
    init(_ record: Record) throws {
        self = try RecordCoding.decode(Session.self, from: record)
        version = record.version
    }

    package init(
        id: String, of user: User, proofs: [SignInTransaction.Proof], policy: SessionPolicy, secret: String, now: Date
    ) {
        self.id = id
        userID = user.id
        account = Grant.AccountState(user)
        sessionsEndedAt = user.sessionsEndedAt
        self.proofs = proofs
        createdAt = now
        lastUsedAt = now
        idle = policy.idleLifetime
        endsAt = now.addingTimeInterval(TimeInterval(policy.lifetime))
        ticket = TicketDigest(of: secret).bytes
    }
}

extension StoreView {
    /// Returns the session of a cookie's secret and its user; `nil` if no session has this secret, or the session has ended.
    package func session(secret: String?, now: Date) throws -> (Session, StoredUser)? {
        guard let secret, BrowserSecrets.isPossible(secret),
            case .fresh(let ticket) = try ticket(.session, digest: TicketDigest(of: secret), now: now)
        else { return nil }
        return try openSession(id: ticket.owner.id, now: now)
    }

    /// Returns a session by its id, and its user; `nil` if no session has this id, or the session has ended.
    package func openSession(id: String, now: Date) throws -> (Session, StoredUser)? {
        guard let session = try record(.session, id: id).map(Session.init),
            let user = try record(.user, id: session.userID).map(StoredUser.init), !session.isOver(for: user.value, now: now)
        else { return nil }
        return (session, user)
    }

    /// Whether a session is open. `user` was read before; if the session belongs to another user, that user is read too.
    package func isSessionOpen(id: String, of user: User?, now: Date) throws -> Bool {
        guard let session = try record(.session, id: id).map(Session.init) else { return false }
        guard let user, user.id == session.userID else { return try openSession(id: id, now: now) != nil }
        return !session.isOver(for: user, now: now)
    }
}
