package import Foundation
internal import JOSE
internal import Store

/// A notification to an application that a session has ended (OpenID Connect Back-Channel Logout 1.0 section 2.4), claimed for one
/// delivery. The notification is sent only to the URI that the application registered.
package struct BackchannelLogout: Sendable {
    /// Seconds for which a logout token is valid: enough for one delivery, too short to be stored and used later.
    static let lifetime: TimeInterval = 120

    /// The id of the notification, the same for each delivery, so that the application recognizes a repetition.
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
    /// The application could not be reached, or reported an error of its own. The notification is sent again later.
    case failed(reason: String)
    /// The server stops. Another server, or the next start, sends the notification.
    case interrupted
}

/// A notification that waits for its delivery; the payload of a record. The end of a session and its notifications are committed
/// together, so that a crash loses none. Several servers share the waiting notifications: a claim moves ``dueAt`` into the future by a
/// compare-and-swap.
private struct LogoutNotice: Codable, Sendable {
    /// Seconds after which another server may send a claimed notification. Longer than the lifetime of its token by more than the
    /// difference of two servers' clocks, so that two servers never send at the same time.
    static let lease: TimeInterval = 180
    /// Seconds until the next delivery, after one, two and three failed deliveries. After the fourth, the server gives up.
    static let pauses: [TimeInterval] = [60, 300, 1_800]
    /// Seconds after which a notification is removed in any case.
    static let retention: TimeInterval = 86_400
    /// Seconds after which no delivery begins. Earlier than the removal, so that the system log records the failure.
    static let patience = retention - 3_600
    /// The maximum number of notifications that one transaction reads.
    static let pageSize = 200

    var id: String
    var clientID: String
    /// The authorization server's id; `nil` for the org server.
    var server: String?
    var userID: String
    var sessionID: String
    var createdAt: Date
    /// The time when the next delivery begins.
    var dueAt: Date
    /// The number of deliveries that have begun.
    var deliveries = 0
    /// The version of the record from which the notification was read; 0 before the notification is stored.
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

    /// Returns the writes that remove a notification without a delivery and log this.
    func abandoning(reason: String) -> Writes {
        var writes = Writes([removal])
        writes.log("user.session.end.notice", .failure, reason: reason, userID: userID, clientID: clientID, server: server)
        return writes
    }
}

extension Engine {
    /// Returns the writes that notify the applications of a session, if they registered a logout URI.
    package func backchannelLogouts(of session: Session, snapshot: OrgSnapshot, now: Date) -> Writes {
        var writes = Writes()
        for client in session.clients where snapshot.application(client.id)?.receivesLogouts == true {
            do {
                let id = try environment.random.identifier(prefix: "LT.")
                writes += [.put(try LogoutNotice(id: id, client: client, of: session, now: now).record())]
            } catch {
                // This error must not prevent the end of the session or the notification of other applications.
                writes.log(
                    "user.session.end.notice", .failure, reason: "the notification cannot be stored", userID: session.userID,
                    clientID: client.id, server: client.server)
            }
        }
        if !writes.changes.isEmpty { writes.outbox = [.logouts] }
        return writes
    }

    /// The notifications that one search claimed, and the position of the next search.
    package struct LogoutClaim: Sendable {
        package var logouts: [BackchannelLogout] = []
        /// The position after which the next search begins; `nil` for the first notification.
        package var position: String?
    }

    /// Claims due notifications for delivery by the caller, who must report each result to ``completeLogout(_:_:context:)``. Without a
    /// report, another claim returns the notification after three minutes. The search begins after `position` and wraps around, so that
    /// successive searches begin with different notifications. Each page is a transaction of its own.
    /// - Parameters:
    ///   - position: The position at which the previous search ended; `nil` for the first notification.
    ///   - limit: The maximum number of claims.
    ///   - limitPerClient: The maximum for one application, so that an unreachable application does not delay the others.
    ///   - claimed: The number of claims that the caller still has, by client. They count towards `limitPerClient`.
    package func claimLogouts(
        after position: String? = nil, limit: Int, limitPerClient: Int = .max, claimed: [String: Int] = [:], context: RequestContext
    ) async throws -> LogoutClaim {
        var (claim, counts) = (LogoutClaim(position: position), claimed)
        var hasWrapped = position == nil
        while claim.logouts.count < limit {
            let page: LogoutPage
            do {
                page = try await claimPage(
                    after: claim.position, limit: limit - claim.logouts.count, limitPerClient: limitPerClient, claimed: counts,
                    context: context)
            } catch  where !claim.logouts.isEmpty {
                // The caller must deliver the notifications that are claimed already.
                return claim
            }
            claim.logouts += page.logouts
            for logout in page.logouts { counts[logout.clientID, default: 0] += 1 }
            claim.position = page.next
            if page.next == nil {
                guard !hasWrapped else { break }
                hasWrapped = true
            } else if hasWrapped, let position, let next = page.next, next >= position {
                break
            }
        }
        return claim
    }

    private struct LogoutPage: Sendable {
        var logouts: [BackchannelLogout] = []
        /// The id of the last notification that was examined; `nil` at the end.
        var next: String?
    }

    /// Claims the due notifications of one page, and gives up those that cannot be delivered any more.
    private func claimPage(
        after position: String?, limit: Int, limitPerClient: Int, claimed: [String: Int], context: RequestContext
    ) async throws -> LogoutPage {
        try await transact(context) { reading in
            let page = try reading.view.records(.logoutNotice, after: position, limit: LogoutNotice.pageSize).map(LogoutNotice.init)
            let hasDue = page.contains { $0.dueAt <= context.now }
            return (page: page, snapshot: hasDue ? try reading.snapshot : nil)
        } decide: { (found: (page: [LogoutNotice], snapshot: OrgSnapshot?)) in
            var (result, writes, counts) = (LogoutPage(), Writes(), claimed)
            for notice in found.page {
                guard result.logouts.count < limit else { return Plan(result, writes) }
                result.next = notice.id
                guard let snapshot = found.snapshot, notice.dueAt <= context.now else { continue }
                guard notice.deliveries <= LogoutNotice.pauses.count else {
                    writes += notice.abandoning(reason: "the last delivery did not end")
                    continue
                }
                guard context.now < notice.createdAt.addingTimeInterval(LogoutNotice.patience) else {
                    writes += notice.abandoning(reason: "it waited too long")
                    continue
                }
                // The application may have been removed since the session ended.
                guard let application = snapshot.application(notice.clientID), application.receivesLogouts,
                    let uri = application.backchannelLogoutURI, let server = snapshot.server(notice.server)
                else {
                    writes += [notice.removal]
                    continue
                }
                guard counts[notice.clientID, default: 0] < limitPerClient else { continue }
                var next = notice
                next.deliveries += 1
                next.dueAt = context.now.addingTimeInterval(LogoutNotice.lease)
                guard let token = try? next.token(for: application, of: server, snapshot: snapshot, now: context.now) else {
                    writes += notice.abandoning(reason: "the logout token cannot be signed")
                    continue
                }
                writes += [.put(try next.record())]
                counts[notice.clientID, default: 0] += 1
                result.logouts.append(
                    BackchannelLogout(
                        id: notice.id, clientID: notice.clientID, uri: uri, token: token,
                        expiresAt: context.now.addingTimeInterval(BackchannelLogout.lifetime), delivery: next.deliveries))
            }
            if found.page.count < LogoutNotice.pageSize { result.next = nil }
            return Plan(result, writes)
        }
    }

    /// Reports the result of a claimed delivery. A failed delivery is repeated after one, five and thirty minutes. Then the server gives
    /// up, and the system log records this. A report has no effect if another server has claimed the notification meanwhile.
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
    /// Whether the application is notified of the end of its sessions.
    fileprivate var receivesLogouts: Bool { isActive && backchannelLogoutURI != nil }
}

extension LogoutNotice {
    /// Returns the signed logout token. `sid` equals the `sid` of the ID tokens. The token has no `nonce`, so that it cannot be used as an
    /// ID token; `typ` and `events` mark it as a logout token.
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
