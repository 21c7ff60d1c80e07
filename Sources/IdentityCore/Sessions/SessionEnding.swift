package import Foundation
internal import Store

/// A session without its secret and proofs.
package struct SessionSummary: Sendable, Equatable {
    /// A client that signed in with the session.
    package struct Client: Sendable, Equatable {
        package var id: String
        /// The authorization server's id; `nil` for the org server.
        package var server: String?
    }

    /// `ses` and 17 characters.
    package var id: String
    package var userID: String
    package var createdAt: Date
    /// When a client last signed in with it.
    package var lastUsedAt: Date
    /// The absolute expiry, regardless of use.
    package var endsAt: Date
    /// The clients that signed in with it, the latest last. They are notified when it ends.
    package var clients: [Client]

    package init(_ session: Session) {
        (id, userID, createdAt) = (session.id, session.userID, session.createdAt)
        (lastUsedAt, endsAt) = (session.lastUsedAt, session.endsAt)
        clients = session.clients.map { Client(id: $0.id, server: $0.server) }
    }
}

extension Engine {
    /// Returns the open sessions of a user, at most 1,000, ordered by id.
    package func sessions(ofUser userID: String, now: Date) async throws -> [SessionSummary] {
        try await store.read { view in
            guard let user = try view.record(.user, id: userID).map(StoredUser.init)?.value else { return [] }
            return try view.records(.session, where: "user", is: userID, limit: 1_000).map(Session.init)
                .filter { !$0.isOver(for: user, now: now) }.map(SessionSummary.init)
        }
    }

    /// Signs the user out of every browser, and notifies the applications. Pending sign-ins and unused session tokens can no longer start a
    /// session. Existing grants stay valid; revoke them separately. If the store fails, some sessions may have ended already. Returns the
    /// number of sessions that ended.
    @discardableResult
    package func endSessions(ofUser userID: String, context: RequestContext) async throws -> Int {
        // The account is written first: this ends every session, including those that start concurrently.
        if case .unknownUser = try await markSessionsEnded(ofUser: userID, context: context) { return 0 }
        return try await removeEndedSessions(ofUser: userID, context: context)
    }

    /// Removes the sessions that started before the last sign-out everywhere, and notifies their applications. Returns their number.
    @discardableResult
    func removeEndedSessions(ofUser userID: String, context: RequestContext) async throws -> Int {
        var ended = 0
        while true {
            let batch = try await transact(context) { reading in
                let user = try reading.view.record(.user, id: userID).map(StoredUser.init)?.value
                let sessions = try reading.view.records(.session, where: "user", is: userID, limit: .max).map(Session.init)
                    .filter { $0.sessionsEndedAt != user?.sessionsEndedAt }
                return (Array(sessions.prefix(Self.mostEnded)), snapshot: try reading.snapshot)
            } decide: { [self] sessions, snapshot in
                var writes = sessions.reduce(Writes()) { $0 + $1.ending() }
                for session in sessions {
                    // A notice that cannot be signed must not keep the session.
                    writes.outbox += (try? backchannelLogouts(of: SessionSummary(session), snapshot: snapshot, now: context.now)) ?? []
                }
                return Plan(sessions.count, writes)
            }
            ended += batch
            if batch < Self.mostEnded { return ended }
        }
    }

    /// The maximum number of sessions that one commit ends.
    private static let mostEnded = 100
}

extension Session {
    package func ending(reason: String? = nil, clientID: String? = nil, server: String? = nil) -> Writes {
        var writes = Writes([.remove(.session, id: id, version: version)])
        writes.log("user.session.end", .success, reason: reason, userID: userID, clientID: clientID, server: server)
        return writes
    }
}
