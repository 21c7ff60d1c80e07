package import Foundation
package import JOSE
package import Store

/// A presented token that this server issued and that is valid now.
package enum IssuedToken: Sendable {
    case access(ClaimSet, Grant, User?)
    case id(ClaimSet, Grant, User)
    case refresh(Ticket, Grant, User)

    package var grant: Grant {
        switch self {
        case .access(_, let grant, _), .id(_, let grant, _), .refresh(_, let grant, _): grant
        }
    }
}

/// Identifies a presented token: verifies its signature, then checks its grant in the same read.
package struct TokenFinder {
    package let snapshot: OrgSnapshot
    package let server: AuthorizationServerDefinition
    package let view: any StoreView
    package let now: Date

    package init(snapshot: OrgSnapshot, server: AuthorizationServerDefinition, view: any StoreView, now: Date) {
        (self.snapshot, self.server, self.view, self.now) = (snapshot, server, view, now)
    }

    /// Returns the rows of a presented token: its grant and the user. The claims are not verified here; they only determine the rows to
    /// read.
    package static func lookup(_ token: String) -> Lookup {
        guard token.utf8.contains(UInt8(ascii: ".")) else {
            return Lookup(.ticket(.refreshToken, TicketDigest(of: token), .owner(.named(.user, byKey: "user"))))
        }
        let claims = try? JSONWebSignature(parsing: token).unverifiedClaims().json
        guard let id = claims?["jti"]?.stringValue.flatMap(TokenID.init) else { return Lookup() }
        return Lookup(.record(.grant, id: id.grantID, .named(.user, byKey: "user")))
    }

    /// Returns the token's kind and grant; `nil` if the token is unknown, expired or revoked, or another server issued it.
    package func find(_ token: String) throws -> IssuedToken? {
        // Refresh tokens contain no dots, signed tokens two.
        token.utf8.contains(UInt8(ascii: ".")) ? try signed(token) : try refresh(token)
    }

    /// Returns the claims, grant and user of a valid access token; `nil` for any other token.
    package func access(_ token: String) throws -> (ClaimSet, Grant, User?)? {
        if case .access(let claims, let grant, let user) = try signed(token) { (claims, grant, user) } else { nil }
    }

    private func signed(_ token: String) throws -> IssuedToken? {
        guard let claims = snapshot.keyRing.verification.claims(of: token, issuer: snapshot.issuer(of: server), now: now),
            let id = claims.jwtID.flatMap(TokenID.init), let issuedAt = claims.issuedAt, let (grant, user) = try grant(id.grantID),
            grant.closure(by: user) == nil
        else { return nil }
        switch id.kind {
        case .access:
            return grant.isRevoked(tokenID: id.text, issuedAt: Int(clamping: issuedAt)) ? nil : .access(claims, grant, user)
        case .id:
            // Only closing the grant invalidates an id token; a token revocation does not, because it is a statement about a past event
            // (Documentation/Protocol/OAuth.md §2.10).
            return user.map { .id(claims, grant, $0) }
        }
    }

    private func refresh(_ token: String) throws -> IssuedToken? {
        guard case .fresh(let ticket) = try view.ticket(.refreshToken, digest: TicketDigest(of: token), now: now),
            let (grant, user) = try grant(ticket.owner.id), let user, let family = grant.refresh, grant.revokedAt == nil,
            grant.closure(by: user) == nil, ticket.use == .once || now < family.end(usedAt: family.usedAt)
        else { return nil }
        return .refresh(ticket, grant, user)
    }

    /// Returns a grant and its user; `nil` unless the grant belongs to this server and to an active client.
    private func grant(_ id: String) throws -> (Grant, User?)? {
        guard let grant = try view.record(.grant, id: id).map(Grant.init), grant.server == server.id,
            snapshot.application(grant.clientID)?.isActive == true
        else { return nil }
        return (grant, try grant.userID.flatMap { try GrantUserReader.user(id: $0, in: view) })
    }
}

/// The `jti` of a token: `AT.` or `ID.`, the grant's id and 12 random characters. For an access token that was issued with a refresh token,
/// a dot and the id of the refresh family follow (Documentation/Protocol/OAuth.md §3.2).
package struct TokenID: Sendable, Equatable {
    package enum Kind: String, Sendable { case access = "AT.", id = "ID." }

    package let kind: Kind
    package let grantID: String
    /// The value of the claim.
    package let text: String

    /// Creates the id of a new token.
    init(_ kind: Kind, of grant: Grant, random: any RandomSource) throws {
        self.kind = kind
        grantID = grant.id
        let own = try random.identifier(prefix: "").prefix(12)
        text = kind.rawValue + grant.id + own + (kind == .access ? grant.refresh.map { "." + $0.id } ?? "" : "")
    }

    /// Parses a claim; `nil` if its format differs.
    package init?(_ text: String) {
        guard let kind = Kind(rawValue: String(text.prefix(3))), text.utf8.count >= 3 + Grant.idLength else { return nil }
        self.kind = kind
        grantID = String(text.dropFirst(3).prefix(Grant.idLength))
        self.text = text
    }
}
