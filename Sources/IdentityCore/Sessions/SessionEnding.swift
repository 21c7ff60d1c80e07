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

    /// The session's id: `ses` and 17 characters.
    package var id: String
    package var userID: String
    package var createdAt: Date
    /// The time when a client last signed in with the session.
    package var lastUsedAt: Date
    /// The absolute expiry, regardless of use.
    package var endsAt: Date
    /// The clients that signed in with the session, the latest last. They are notified when the session ends.
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

    /// Removes the sessions that started before the last sign-out everywhere, and notifies their applications. Returns the number of
    /// removed sessions.
    @discardableResult
    func removeEndedSessions(ofUser userID: String, context: RequestContext) async throws -> Int {
        try await inBatches(.session, ofUser: userID) { ids in
            try await transact(context) { reading in
                let user = try reading.view.record(.user, id: userID).map(StoredUser.init)?.value
                let sessions = try ids.compactMap { try reading.view.record(.session, id: $0).map(Session.init) }
                    .filter { $0.sessionsEndedAt != user?.sessionsEndedAt }
                return (sessions, snapshot: try reading.snapshot)
            } decide: { [self] sessions, snapshot in
                var writes = Writes()
                for session in sessions {
                    writes += session.ending() + backchannelLogouts(of: session, snapshot: snapshot, now: context.now)
                }
                return Plan(sessions.count, writes)
            }
        }
    }

    /// Lists the ids of the user's records once, and calls `body` with at most 100 ids at a time, so that each commit stays small. Records
    /// that are created after the listing are skipped. Returns the sum of the results of `body`.
    func inBatches(_ kind: RecordKind, ofUser userID: String, _ body: ([String]) async throws -> Int) async throws -> Int {
        let ids = try await store.read { view in try view.records(kind, where: "user", is: userID, limit: .max).map(\.id) }
        var sum = 0
        for start in stride(from: 0, to: ids.count, by: 100) { sum += try await body(Array(ids[start..<min(start + 100, ids.count)])) }
        return sum
    }
}

extension Session {
    package func ending(reason: String? = nil, clientID: String? = nil, server: String? = nil) -> Writes {
        var writes = Writes([.remove(.session, id: id, version: version)])
        writes.log("user.session.end", .success, reason: reason, userID: userID, clientID: clientID, server: server)
        return writes
    }
}
