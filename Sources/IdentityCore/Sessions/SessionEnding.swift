package import Foundation
internal import Store

/// A session as others may know it: no secret of it, nothing of what was proved.
package struct SessionSummary: Sendable, Equatable {
    /// A client that signed in with it.
    package struct Client: Sendable, Equatable {
        /// The `client_id`.
        package var id: String
        /// The authorization server's id; nil for the org server.
        package var server: String?
    }

    /// `ses` and 17 characters.
    package var id: String
    /// Whose it is.
    package var userID: String
    /// When it began.
    package var createdAt: Date
    /// When a client last signed in with it.
    package var lastUsedAt: Date
    /// When it ends, however it is used.
    package var endsAt: Date
    /// The clients that signed in with it, the last one last: those to tell when it ends.
    package var clients: [Client]

    package init(_ session: Session) {
        (id, userID, createdAt) = (session.id, session.userID, session.createdAt)
        (lastUsedAt, endsAt) = (session.lastUsedAt, session.endsAt)
        clients = session.clients.map { Client(id: $0.id, server: $0.server) }
    }
}

extension Engine {
    /// The sessions that a person has open.
    ///
    /// - Parameters:
    ///   - userID: The person.
    ///   - now: When.
    /// - Returns: At most a thousand, by id.
    /// - Throws: ``StoreError`` if the store failed.
    package func sessions(ofUser userID: String, now: Date) async throws -> [SessionSummary] {
        try await store.read { view in
            guard let user = try view.record(.user, id: userID).map(StoredUser.init)?.value else { return [] }
            return try view.records(.session, where: "user", is: userID, limit: 1_000).map(Session.init)
                .filter { !$0.isOver(for: user, now: now) }.map(SessionSummary.init)
        }
    }

    /// Signs a person out of every browser.
    ///
    /// Sign-ins under way end with it, and session tokens that were not traded yet: none of them begins a session any more. Grants that were
    /// made stay good, and are revoked on their own.
    ///
    /// - Parameters:
    ///   - userID: The person.
    ///   - context: The request.
    /// - Returns: The sessions that ended, with the clients to tell.
    /// - Throws: ``StoreError`` if the store failed; some may have ended then.
    package func endSessions(ofUser userID: String, context: RequestContext) async throws -> [SessionSummary] {
        // The account is written first: this ends every session, including those that start concurrently.
        if case .unknownUser = try await markSessionsEnded(ofUser: userID, context: context) { return [] }
        var ended: [SessionSummary] = []
        while true {
            let batch = try await transact(context) { reading in
                try reading.view.records(.session, where: "user", is: userID, limit: 100).map(Session.init)
            } decide: { sessions in
                Plan(sessions.map(SessionSummary.init), sessions.reduce(Writes()) { $0 + $1.ending() })
            }
            if batch.isEmpty { return ended }
            ended += batch
        }
    }
}

extension Session {
    /// The writes that end the session.
    package func ending(reason: String? = nil, clientID: String? = nil, server: String? = nil) -> Writes {
        var writes = Writes([.remove(.session, id: id, version: version)])
        writes.log("user.session.end", .success, reason: reason, userID: userID, clientID: clientID, server: server)
        return writes
    }
}
