internal import Foundation
internal import JOSE

/// A token that somebody shows, found to be one of ours and good now.
enum IssuedToken: Sendable {
    case access(ClaimSet, Grant, User?)
    case id(ClaimSet, Grant, User)
    case refresh(Ticket, Grant, User)

    var grant: Grant {
        switch self {
        case .access(_, let grant, _), .id(_, let grant, _), .refresh(_, let grant, _): grant
        }
    }
}

/// Finds what a token is: checks its signature, then asks the grant, in one read.
struct TokenFinder {
    let snapshot: OrgSnapshot
    let server: AuthorizationServerDefinition
    let view: any StoreView
    let now: Date

    /// What a token is; nil if it is unknown, over, revoked, or another server's.
    func find(_ token: String) throws -> IssuedToken? {
        // Refresh tokens have no dots, signed ones two.
        token.utf8.contains(UInt8(ascii: ".")) ? try signed(token) : try refresh(token)
    }

    /// An access token that is good now.
    func access(_ token: String) throws -> (ClaimSet, Grant, User?)? {
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
            // Nothing revokes an id token but its user's end: it says what happened (oauth reference 2.10).
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

    /// A grant of this server whose client is still there, and its user.
    private func grant(_ id: String) throws -> (Grant, User?)? {
        guard let grant = try view.record(.grant, id: id).map(Grant.init), grant.server == server.id,
            snapshot.application(grant.clientID)?.isActive == true
        else { return nil }
        return (grant, try grant.userID.flatMap { try GrantHolder.user(id: $0, in: view) })
    }
}
