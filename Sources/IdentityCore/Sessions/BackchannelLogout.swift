package import Foundation
internal import JOSE
internal import Store

/// A notification to an application that a session has ended (OpenID Connect Back-Channel Logout 1.0 section 2.4), claimed for one
/// delivery. It is sent only to the URI that the application registered.
package struct BackchannelLogout: Sendable {
    /// Seconds for which a logout token is valid: enough for one delivery, too short to be stored and used later.
    static let lifetime: TimeInterval = 120

    /// The same for each delivery of the notification, so that the application recognizes a repetition.
    package var id: String
    package var clientID: String
    package var uri: String
    /// The signed logout token.
    package var token: String
    package var expiresAt: Date
    /// The number of this delivery, from 1.
    var delivery: Int
}

extension BackchannelLogout: Redacted {
    package var description: String { "BackchannelLogout(\(id), \(clientID))" }
}

/// The result of one delivery of a notification.
package enum LogoutDeliveryResult: Sendable, Equatable {
    case delivered
    /// The application rejected the notification. It is not sent again.
    case refused(reason: String)
    /// The application could not be reached, or has a problem of its own. The notification is sent again later.
    case failed(reason: String)
    /// The server stops. Another server, or the next start, sends the notification.
    case interrupted
}

/// A notification that waits for its delivery; the payload of a record. It is committed with the end of the session, so that a crash loses
/// none. Several servers share the waiting notifications: a claim moves ``dueAt`` into the future by a compare-and-swap.
private struct LogoutNotice: Codable, Sendable {
    /// Seconds after which another server may send a claimed notification. Longer than the lifetime of its token by more than the difference
    /// of two servers' clocks, so that two servers never send at the same time.
    static let lease: TimeInterval = 180
    /// Seconds until the next delivery, by the number of failed ones. After the last, the server gives up.
    static let pauses: [TimeInterval] = [60, 300, 1_800]
    /// Seconds for which a notification is kept, whatever happens to it.
    static let retention: TimeInterval = 86_400

    var id: String
    var clientID: String
    /// The authorization server's id; `nil` for the org server.
    var server: String?
    var userID: String
    var sessionID: String
    var createdAt: Date
    /// When the next delivery begins.
    var dueAt: Date
    /// The number of deliveries that have begun.
    var deliveries = 0
    /// The version of the record that it was read from; 0 before it is stored.
    var version: Int64 = 0

    private enum CodingKeys: String, CodingKey { case id, clientID, server, userID, sessionID, createdAt, dueAt, deliveries }

    init(id: String, client: Session.Client, of session: Session, now: Date) {
        (self.id, clientID, server, userID, sessionID) = (id, client.id, client.server, session.userID, session.id)
        (createdAt, dueAt) = (now, now)
    }

    init(_ record: Record) throws {
        self = try RecordCoding.decode(LogoutNotice.self, from: record)
        version = record.version
    }

    func record() throws -> Record {
        Record(
            kind: .logoutNotice, id: id, version: version, expiresAt: createdAt.addingTimeInterval(Self.retention),
            payload: try RecordCoding.encode(self))
    }

    var removal: Change { .remove(.logoutNotice, id: id, version: version) }

    /// The removal of a notification that is not delivered, with the log event.
    func abandoning(reason: String) -> Writes {
        var writes = Writes([removal])
        writes.log("user.session.end.notice", .failure, reason: reason, userID: userID, clientID: clientID, server: server)
        return writes
    }
}

extension Engine {
    /// Returns the writes that notify the applications that a session signed in to and that registered a logout URI.
    package func backchannelLogouts(of session: Session, snapshot: OrgSnapshot, now: Date) -> Writes {
        var writes = Writes()
        for client in session.clients where snapshot.application(client.id)?.receivesLogouts == true {
            do {
                let id = try environment.random.identifier(prefix: "LT.")
                writes += [.put(try LogoutNotice(id: id, client: client, of: session, now: now).record())]
            } catch {
                // It must not stop the session from ending or other applications from being notified.
                writes.log(
                    "user.session.end.notice", .failure, reason: "the notification cannot be stored", userID: session.userID,
                    clientID: client.id, server: client.server)
            }
        }
        if !writes.changes.isEmpty { writes.outbox = [.logouts] }
        return writes
    }

    /// Claims due notifications for delivery by the caller, who must report each result to ``completeLogout(_:_:context:)``. Without a
    /// report, another claim returns the notification after three minutes. Returns at most `limit` notifications.
    package func claimLogouts(limit: Int, context: RequestContext) async throws -> [BackchannelLogout] {
        try await transact(context) { reading in
            // Reads all waiting ones if need be: those of an application that cannot be reached must not hide those of others.
            var (due, position) = ([LogoutNotice](), String?.none)
            repeat {
                let page = try reading.view.records(.logoutNotice, after: position, limit: 500).map(LogoutNotice.init)
                due += page.filter { $0.dueAt <= context.now }
                position = page.count == 500 ? page.last?.id : nil
            } while position != nil && due.count < limit
            return (due: Array(due.prefix(limit)), snapshot: due.isEmpty ? nil : try reading.snapshot)
        } decide: { (found: (due: [LogoutNotice], snapshot: OrgSnapshot?)) in
            guard let snapshot = found.snapshot else { return Plan([]) }
            var (claimed, writes) = ([BackchannelLogout](), Writes())
            for notice in found.due {
                guard notice.deliveries <= LogoutNotice.pauses.count else {
                    writes += notice.abandoning(reason: "the last delivery did not end")
                    continue
                }
                // The application may have been removed since the session ended.
                guard let application = snapshot.application(notice.clientID), application.receivesLogouts,
                    let uri = application.backchannelLogoutURI, let server = snapshot.server(notice.server)
                else {
                    writes += [notice.removal]
                    continue
                }
                var next = notice
                next.deliveries += 1
                next.dueAt = context.now.addingTimeInterval(LogoutNotice.lease)
                guard let token = try? next.token(for: application, of: server, snapshot: snapshot, now: context.now) else {
                    writes += notice.abandoning(reason: "the logout token cannot be signed")
                    continue
                }
                writes += [.put(try next.record())]
                claimed.append(
                    BackchannelLogout(
                        id: notice.id, clientID: notice.clientID, uri: uri, token: token,
                        expiresAt: context.now.addingTimeInterval(BackchannelLogout.lifetime), delivery: next.deliveries))
            }
            return Plan(claimed, writes)
        }
    }

    /// Reports the result of a claimed delivery. A failed delivery is repeated after one, five and thirty minutes; then the server gives up,
    /// and the system log records it. A report has no effect if another server has claimed the notification meanwhile.
    package func completeLogout(_ logout: BackchannelLogout, _ result: LogoutDeliveryResult, context: RequestContext) async throws {
        try await transact(context) { reading in
            try reading.view.record(.logoutNotice, id: logout.id).map(LogoutNotice.init)
        } decide: { (notice: LogoutNotice?) in
            guard var notice, notice.deliveries == logout.delivery else { return Plan(()) }
            switch result {
            case .delivered: return Plan((), Writes([notice.removal]))
            case .refused(let reason): return Plan((), notice.abandoning(reason: reason))
            case .failed(let reason):
                guard notice.deliveries <= LogoutNotice.pauses.count else { return Plan((), notice.abandoning(reason: reason)) }
                notice.dueAt = context.now.addingTimeInterval(LogoutNotice.pauses[notice.deliveries - 1])
            case .interrupted: (notice.dueAt, notice.deliveries) = (context.now, notice.deliveries - 1)
            }
            return Plan((), Writes([.put(try notice.record())]))
        }
    }

    /// Signs the user out everywhere: ends every session and, if `revokesGrants`, revokes every grant. Otherwise the tokens of the user's
    /// apps keep their validity. A repeated call ends newer sessions and grants.
    package func signOutEverywhere(userID: String, revokesGrants: Bool = true, context: RequestContext) async throws {
        // The first two commits mark the account: one ends its sessions, the other closes its grants. After both, nothing is valid, even if
        // a later commit fails.
        if case .unknownUser = try await markSessionsEnded(ofUser: userID, context: context) { return }
        if revokesGrants { _ = try await markGrantsEnded(ofUser: userID, context: context) }
        try await removeEndedSessions(ofUser: userID, context: context)
        if revokesGrants { try await revokeEndedGrants(ofUser: userID, context: context) }
    }
}

extension Application {
    /// Whether it is notified when a session that signed in to it ends.
    fileprivate var receivesLogouts: Bool { isActive && backchannelLogoutURI != nil }
}

extension LogoutNotice {
    /// Returns the signed logout token. `sid` equals the `sid` of the ID tokens. The token has no `nonce`, so that it cannot be used as an ID
    /// token; `typ` and `events` identify it.
    fileprivate func token(
        for application: Application, of server: AuthorizationServerDefinition, snapshot: OrgSnapshot, now: Date
    ) throws -> String {
        let claims: JSONValue = [
            "iss": .string(snapshot.issuer(of: server)), "aud": .string(application.id), "sub": .string(userID), "sid": .string(sessionID),
            "iat": .integer(now.numericDate), "exp": .integer(now.addingTimeInterval(BackchannelLogout.lifetime).numericDate),
            "jti": .string(id), "events": ["http://schemas.openid.net/event/backchannel-logout": [:]],
        ]
        return try snapshot.keyRing.signer(application.idTokenAlgorithm, now: now).sign(claims, header: ["typ": "logout+jwt"])
    }
}
