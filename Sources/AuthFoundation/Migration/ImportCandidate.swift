import Foundation

/// A session that passed the checks and is not stored yet.
struct ImportCandidate: Sendable {
    var found: FoundSession
    var session: ImportableSession
    /// The hash of the original's data.
    let content: String
    /// The credential that contains an earlier session of the same place; `nil` if no run has met the place.
    let earlierID: String?

    var id: String { session.token.id }
    var key: SessionKey { SessionKey(session.token) }

    /// Whether the session is imported instead of another one of the same user: the session that only the app can have stored, otherwise
    /// the one that expires later. Of two equal ones, it is the unsynchronized one, because that one certainly belongs to this device.
    func isPreferred(to other: ImportCandidate) -> Bool {
        guard found.isAuthentic == other.found.isAuthentic else { return found.isAuthentic }
        let (own, others) = (session.expiresAt ?? .distantPast, other.session.expiresAt ?? .distantPast)
        return own == others ? !found.isSynchronized && other.found.isSynchronized : own > others
    }
}

/// The values by which two entries are recognized as the same session.
struct SessionKey: Sendable {
    /// The user, issuer and client of an ID token.
    struct Subject: Hashable {
        let issuer: String
        let subject: String
        let audience: [String]

        init?<Claims: HasClaims>(_ claims: Claims) where Claims.ClaimType == JWTClaim {
            let audience: [String]? = (claims[.audience] as String?).map { [$0] } ?? claims[.audience]
            guard let issuer: String = claims[.issuer], let subject: String = claims[.subject], let audience else { return nil }
            self.issuer = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
            (self.subject, self.audience) = (subject, audience.sorted())
        }
    }

    let id: String
    var refreshToken: String?
    var subject: Subject?

    init(_ token: Token) {
        id = token.id
        refreshToken = token.refreshToken.flatMap { $0.isEmpty ? nil : $0 }
        subject = token.idToken.flatMap { Subject($0) }
    }

    init(_ metadata: Token.Metadata, _ token: Token?) {
        id = metadata.id
        refreshToken = token.flatMap { SessionKey($0).refreshToken }
        subject = Subject(metadata)
    }

    /// - Parameter byUser: Whether sessions of the same user are one session. Otherwise, sessions with the same id are one, unless they
    ///   belong to two users: okta-mobile-swift gave sessions of okta-oidc-ios the client id as their id.
    func isSame(as other: SessionKey, byUser: Bool) -> Bool {
        if let refreshToken, refreshToken == other.refreshToken { return true }
        guard let subject, let others = other.subject else { return !byUser && id == other.id }
        return subject == others && (byUser || id == other.id)
    }
}
