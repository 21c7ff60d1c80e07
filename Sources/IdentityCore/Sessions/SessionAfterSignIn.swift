internal import Foundation
internal import Store

/// A sign-in on the pages with all required proofs, and the state from which its code is issued.
package struct ProvedSignIn: Sendable {
    package var transaction: SignInTransaction
    /// The version of the stored transaction; 0 for a new one.
    package var version: Int64
    package var user: StoredUser
    /// The open session of the browser, which can belong to another user; `nil` for none.
    package var session: Session?
    package var snapshot: OrgSnapshot
    package var server: AuthorizationServerDefinition
    /// The writes to commit with the sign-in, except the user record.
    package var writes = Writes()
    /// Whether the user record differs from the stored one.
    package var isUserChanged = false

    package init(
        transaction: SignInTransaction, version: Int64, user: StoredUser, session: Session? = nil, snapshot: OrgSnapshot,
        server: AuthorizationServerDefinition, writes: Writes = Writes(), isUserChanged: Bool = false
    ) {
        (self.transaction, self.version, self.user, self.session, self.snapshot) = (transaction, version, user, session, snapshot)
        (self.server, self.writes, self.isUserChanged) = (server, writes, isUserChanged)
    }
}

extension Engine {
    /// Returns the session after a sign-in, its new secret if any, and the writes. If another user's session ends, its applications are
    /// notified.
    package func session(after proved: ProvedSignIn, context: RequestContext) throws -> (Session, secret: String?, Writes) {
        let now = context.now
        let user = proved.user.value
        let client = Session.Client(id: proved.transaction.applicationID, server: proved.transaction.server)
        // If a code was issued before, the browser may not have received the secret.
        let isNew = proved.transaction.proofs.count > proved.transaction.inherited || proved.transaction.authorization?.code != nil
        var writes = Writes()
        if var session = proved.session, session.userID == user.id {
            session.use(by: client, now: now)
            session.add(proved.transaction.proofs)
            guard isNew else { return (session, nil, Writes([.put(try session.record())])) }
            let secret = try environment.random.secret()
            writes += [.close(.session, digest: TicketDigest(bytes: session.ticket))]
            session.ticket = TicketDigest(of: secret).bytes
            writes += [.put(try session.record()), .issue(session.secretTicket)]
            return (session, secret, writes)
        }
        // A browser has one session: the session of another user ends.
        if let other = proved.session {
            writes += other.ending(reason: "another user signed in", clientID: client.id, server: client.server)
            writes += backchannelLogouts(of: other, snapshot: proved.snapshot, now: now)
        }
        let secret = try environment.random.secret()
        var session = Session(
            id: try environment.random.identifier(prefix: "ses"), of: user, proofs: proved.transaction.proofs,
            policy: proved.snapshot.sessions, secret: secret, now: now)
        session.use(by: client, now: now)
        writes += [.put(try session.record()), .issue(session.secretTicket)]
        writes.log("user.session.start", .success, userID: user.id, clientID: client.id, server: client.server)
        return (session, secret, writes)
    }
}
