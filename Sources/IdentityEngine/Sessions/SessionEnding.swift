public import Foundation

/// A session as others may know it: no secret of it, nothing of what was proved.
public struct SessionSummary: Sendable, Equatable {
    /// A client that signed in with it.
    public struct Client: Sendable, Equatable {
        /// The `client_id`.
        public var id: String
        /// The authorization server's id; nil for the org server.
        public var server: String?
    }

    /// `ses` and 17 characters.
    public var id: String
    /// Whose it is.
    public var userID: String
    /// When it began.
    public var createdAt: Date
    /// When a client last signed in with it.
    public var lastUsedAt: Date
    /// When it ends, however it is used.
    public var endsAt: Date
    /// The clients that signed in with it, the last one last: those to tell when it ends.
    public var clients: [Client]

    init(_ session: Session) {
        (id, userID, createdAt) = (session.id, session.userID, session.createdAt)
        (lastUsedAt, endsAt) = (session.lastUsedAt, session.endsAt)
        clients = session.clients.map { Client(id: $0.id, server: $0.server) }
    }
}

extension IdentityEngine {
    /// The sessions that a person has open.
    ///
    /// - Parameters:
    ///   - userID: The person.
    ///   - now: When.
    /// - Returns: At most a thousand, by id.
    /// - Throws: ``StoreError`` if the store failed.
    public func sessions(ofUser userID: String, now: Date) async throws -> [SessionSummary] {
        try await store.read { view in
            guard let user = try view.record(.user, id: userID).map(StoredUser.init)?.value else { return [] }
            return try view.records(.session, where: "user", is: userID, limit: 1_000).map(Session.init)
                .filter { !$0.isOver(for: user, now: now) }.map(SessionSummary.init)
        }
    }

    /// The session of a browser.
    ///
    /// - Parameters:
    ///   - browser: Its cookies.
    ///   - now: When.
    /// - Returns: It, if it is open.
    /// - Throws: ``StoreError`` if the store failed.
    public func session(of browser: BrowserSecrets, now: Date) async throws -> SessionSummary? {
        try await store.read { try $0.session(secret: browser.session, now: now).map { SessionSummary($0.0) } }
    }

    /// Ends one session, with what it led to that was not finished: sign-ins that lean on it, codes that were not exchanged.
    ///
    /// - Parameters:
    ///   - id: The session's id.
    ///   - context: The request.
    /// - Returns: What ended; nil if there was no such session.
    /// - Throws: ``StoreError`` if the store failed.
    public func endSession(id: String, context: RequestContext) async throws -> SessionSummary? {
        try await transact(context) { reading in
            try reading.view.record(.session, id: id).map(Session.init)
        } decide: { session in
            Plan(session.map(SessionSummary.init), session?.ending() ?? Writes())
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
    public func endSessions(ofUser userID: String, context: RequestContext) async throws -> [SessionSummary] {
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
    func ending(reason: String? = nil, clientID: String? = nil, server: String? = nil) -> Writes {
        var writes = Writes([.remove(.session, id: id, version: version)])
        writes.log("user.session.end", .success, reason: reason, userID: userID, clientID: clientID, server: server)
        return writes
    }
}
