package import Foundation
package import Store

/// A person who is signed in with a browser: what they proved there, and when. The payload of a session record.
///
/// What it proves is judged anew by each sign-in that begins with it. It ends with its times, with the account that it is about
/// (a password that is set, a deactivation), or when somebody signs out.
package struct Session: Sendable, Equatable, Codable {
    /// A client that signed in with it, and must be told when it ends.
    package struct Client: Sendable, Equatable, Codable {
        package var id: String
        /// The authorization server's id; nil for the org server.
        package var server: String?

        package init(id: String, server: String? = nil) {
            self.id = id
            self.server = server
        }
    }

    /// The most clients that are remembered of one session.
    static let mostClients = 100

    /// `ses` and 17 characters; no secret.
    package var id: String
    package var userID: String
    /// The account as it was: another state of it ends the session.
    package var account: Grant.AccountState
    /// When all sessions of the account had last been ended.
    package var sessionsEndedAt: Date?
    /// The last of each factor, in the order proved.
    package var proofs: [SignInTransaction.Proof]
    package var createdAt: Date
    package var lastUsedAt: Date
    /// Seconds without use after which it ends.
    package var idle: Int
    /// When it ends, however it is used.
    package var endsAt: Date
    package var clients: [Client] = []
    /// The digest of the secret in the browser's cookie.
    package var ticket: [UInt8]
    /// The version of the record that it was read from; 0 before it is stored.
    var version: Int64 = 0

    private enum CodingKeys: String, CodingKey {
        case id, userID, account, sessionsEndedAt, proofs, createdAt, lastUsedAt, idle, endsAt, clients, ticket
    }

    /// Whether it is over for this person's account, as it is now.
    func isOver(for user: User, now: Date) -> Bool {
        now >= endsAt || now >= lastUsedAt.addingTimeInterval(TimeInterval(idle)) || user.id != userID || user.status != .active
            || !account.hasPassword(of: user) || sessionsEndedAt != user.sessionsEndedAt
    }

    /// Takes over what was proved since: of each factor, the last proof counts.
    package mutating func add(_ new: [SignInTransaction.Proof]) {
        proofs = (proofs.filter { old in !new.contains { $0.factor == old.factor } } + new).sorted { $0.time < $1.time }
    }

    /// Notes that a client signs in with it.
    package mutating func use(by client: Client, now: Date) {
        lastUsedAt = max(lastUsedAt, now)
        clients.removeAll { $0 == client }
        clients = clients.suffix(Self.mostClients - 1) + [client]
    }

    /// The record to store.
    package func record() throws -> Record {
        Record(
            kind: .session, id: id, version: version, indexedKeys: ["user": userID], expiresAt: endsAt,
            payload: try RecordCoding.encode(self))
    }

    /// The ticket that its secret is.
    package var secretTicket: Ticket {
        Ticket(
            kind: .session, digest: TicketDigest(bytes: ticket), owner: RecordReference(.session, id), use: .untilClosed, expiresAt: endsAt)
    }
}

extension Session {
    /// Reads a record.
    /// - Throws: ``StoreError`` if it is no session.
    init(_ record: Record) throws {
        self = try RecordCoding.decode(Session.self, from: record)
        version = record.version
    }

    /// A session that begins.
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
    /// The session that a cookie's secret leads to, and whose it is; nil if there is none, or it is over.
    package func session(secret: String?, now: Date) throws -> (Session, StoredUser)? {
        guard let secret, BrowserSecrets.isPossible(secret),
            case .fresh(let ticket) = try ticket(.session, digest: TicketDigest(of: secret), now: now)
        else { return nil }
        return try openSession(id: ticket.owner.id, now: now)
    }

    /// A session by its id; nil if there is none, or it is over.
    package func openSession(id: String, now: Date) throws -> (Session, StoredUser)? {
        guard let session = try record(.session, id: id).map(Session.init),
            let user = try record(.user, id: session.userID).map(StoredUser.init), !session.isOver(for: user.value, now: now)
        else { return nil }
        return (session, user)
    }
}
