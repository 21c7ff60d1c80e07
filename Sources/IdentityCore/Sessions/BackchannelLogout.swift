package import Foundation
internal import JOSE

/// A notification to an application that a session has ended (OpenID Connect Back-Channel Logout 1.0 section 2.4). It is sent only to the
/// URI that the application registered.
package struct BackchannelLogout: Sendable {
    /// Seconds for which a logout token is valid: enough for retries, too short to be stored and used later.
    static let lifetime: TimeInterval = 120

    package var id: String
    package var clientID: String
    package var uri: String
    /// The signed logout token.
    package var token: String
    package var expiresAt: Date
}

extension BackchannelLogout: Redacted {
    package var description: String { "BackchannelLogout(\(id), \(clientID))" }
}

extension Engine {
    /// Returns the notifications for the applications that a session signed in to and that registered a logout URI. If a logout token cannot
    /// be signed, the failure is logged. It must not stop the session from ending or other applications from being notified.
    package func backchannelLogouts(of session: Session, snapshot: OrgSnapshot, now: Date) -> Writes {
        var writes = Writes()
        for client in session.clients {
            do {
                guard let notice = try backchannelLogout(of: session, for: client, snapshot: snapshot, now: now) else { continue }
                writes.outbox.append(.logout(notice))
            } catch {
                writes.log(
                    "user.session.end.notice", .failure, reason: "the logout token cannot be signed", userID: session.userID,
                    clientID: client.id, server: client.server)
            }
        }
        return writes
    }

    /// Returns the signed logout notification for one client; `nil` if the client's application or server is unknown, or the application is
    /// inactive or has no logout URI. `sid` equals the `sid` of the ID tokens. The token has no `nonce`, so that it cannot be used as an ID
    /// token; `typ` and `events` identify it.
    private func backchannelLogout(
        of session: Session, for client: Session.Client, snapshot: OrgSnapshot, now: Date
    ) throws -> BackchannelLogout? {
        guard let application = snapshot.application(client.id), application.isActive, let uri = application.backchannelLogoutURI,
            let server = snapshot.server(client.server)
        else { return nil }
        let id = try environment.random.identifier(prefix: "LT.")
        let claims: JSONValue = [
            "iss": .string(snapshot.issuer(of: server)), "aud": .string(application.id), "sub": .string(session.userID),
            "sid": .string(session.id), "iat": .integer(now.numericDate),
            "exp": .integer(now.addingTimeInterval(BackchannelLogout.lifetime).numericDate),
            "jti": .string(id), "events": ["http://schemas.openid.net/event/backchannel-logout": [:]],
        ]
        let key = try snapshot.keyRing.signer(application.idTokenAlgorithm, now: now)
        return BackchannelLogout(
            id: id, clientID: application.id, uri: uri, token: try key.sign(claims, header: ["typ": "logout+jwt"]),
            expiresAt: now.addingTimeInterval(BackchannelLogout.lifetime))
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
