package import Foundation
internal import JOSE

/// What an application is told when a session is over (OpenID Connect Back-Channel Logout 1.0 section 2.4): to be posted to a URI that the
/// application registered, and nowhere else.
package struct BackchannelLogout: Sendable {
    /// Seconds that a logout token is good: long enough to be tried again, too short to be kept for later.
    static let lifetime: TimeInterval = 120

    /// The id of the token.
    package var id: String
    /// Who is told.
    package var clientID: String
    /// Where.
    package var uri: String
    /// The signed token.
    package var token: String
    /// When the token is over.
    package var expiresAt: Date
}

extension BackchannelLogout: Redacted {
    /// The id and the application; never the token.
    package var description: String { "BackchannelLogout(\(id), \(clientID))" }
}

extension Engine {
    /// The words to the applications that a session signed in to, as far as they want to hear of its end.
    ///
    /// An id token says the same `sid`. There is no `nonce`, so that no logout token is taken for an id token; its `typ` and its `events`
    /// say what it is.
    package func backchannelLogouts(of session: SessionSummary, snapshot: OrgSnapshot, now: Date) throws -> [BackchannelLogout] {
        try session.clients.compactMap { client in
            guard let application = snapshot.application(client.id), application.isActive, let uri = application.backchannelLogoutURI,
                let server = snapshot.server(client.server), let key = snapshot.keyRing.signer(application.idTokenAlgorithm, now: now)
            else { return nil }
            let id = try environment.random.identifier(prefix: "LT.")
            let issuedAt = now.numericDate
            let claims: JSONValue = [
                "iss": .string(snapshot.issuer(of: server)), "aud": .string(application.id), "sub": .string(session.userID),
                "sid": .string(session.id), "iat": .integer(issuedAt), "exp": .integer(issuedAt + Int64(BackchannelLogout.lifetime)),
                "jti": .string(id), "events": ["http://schemas.openid.net/event/backchannel-logout": [:]],
            ]
            return BackchannelLogout(
                id: id, clientID: application.id, uri: uri, token: try key.sign(claims, header: ["typ": "logout+jwt"]),
                expiresAt: now.addingTimeInterval(BackchannelLogout.lifetime))
        }
    }

    /// Signs a person out everywhere: ends every session and, unless told otherwise, revokes every grant. Called again, it ends what was
    /// begun since.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - revokesGrants: Whether the tokens that the person's apps have end as well; else they stay good for as long as they were.
    ///   - context: When and from where it was asked.
    /// - Returns: What applications are to be told.
    /// - Throws: ``StoreError`` if the store failed.
    package func signOutEverywhere(
        userID: String, revokesGrants: Bool = true, context: RequestContext
    ) async throws -> [BackchannelLogout] {
        // Sessions first: no code that one of them gave gives anything after that.
        let ended = try await endSessions(ofUser: userID, context: context)
        if revokesGrants { try await revokeAllGrants(ofUser: userID, context: context) }
        let configuration = try await snapshot()
        return try ended.flatMap { try backchannelLogouts(of: $0, snapshot: configuration, now: context.now) }
    }
}
