import Foundation

/// A session that passed the checks and is not stored yet.
struct ImportCandidate: Sendable {
    var found: FoundSession
    var session: ImportableSession
    /// The hash of the original's data.
    let content: String

    var id: String { session.token.id }
    var key: SessionKey { SessionKey(session.token) }

    /// Whether the session was stored after another one of the same user. Of two equal ones, the one that is not synchronized counts,
    /// because it is surely of this device.
    func isLater(than other: ImportCandidate) -> Bool {
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

    /// - Parameter byUser: Whether sessions of the same user are one session. Otherwise, sessions with the same id are one.
    func isSame(as other: SessionKey, byUser: Bool) -> Bool {
        if let refreshToken, refreshToken == other.refreshToken { return true }
        if !byUser { return id == other.id }
        return subject != nil && subject == other.subject
    }
}
