package import Foundation
internal import JOSE
package import Store

/// A new refresh token: the secret for the client, the ticket for the store.
package struct RefreshTokenSuccessor: Sendable, Redacted {
    package let secret: String
    package let ticket: Ticket

    /// Makes one: taken once in a rotating family, good until closed as a static token. A family keeps the manner that it began with.
    package init(of grant: Grant, use: Ticket.Use, now: Date, random: any RandomSource) throws {
        secret = try random.secret(prefix: "rt_")
        // A static token's idle end moves with its use, which the grant knows; a rotating one is replaced with each use.
        let end = use == .once ? grant.refresh?.end(usedAt: now) : grant.refresh?.endsAt
        ticket = Ticket(
            kind: .refreshToken, digest: TicketDigest(of: secret), owner: RecordReference(.grant, grant.id), use: use, expiresAt: end)
    }
}

extension Grant.RefreshFamily {
    /// Seconds by which ``usedAt`` may lag behind the last use of a static token: a hundredth of the idle time, at most a minute.
    package var useGranularity: TimeInterval { min(TimeInterval(idle) / 100, 60) }

    /// When a token ends that was last used, or made, at a time: after the idle time, or with the family.
    package func end(usedAt time: Date) -> Date {
        let idleEnd = time.addingTimeInterval(TimeInterval(idle))
        return endsAt.map { min($0, idleEnd) } ?? idleEnd
    }
}

extension Grant {
    /// Sees to it that the record outlives the refresh token that is made now, and the access tokens made with that.
    ///
    /// Looks ahead by two idle times, so that a family in use rewrites its grant once in an idle time, not with each refresh.
    ///
    /// - Returns: Whether the record must be written.
    @discardableResult
    package mutating func keepForRefresh(now: Date) -> Bool {
        guard let refresh else { return false }
        let tail = TimeInterval(max(accessTokenLifetime, TokenIssuer.idTokenLifetime))
        guard expiresAt < refresh.end(usedAt: now).addingTimeInterval(tail) else { return false }
        expiresAt = refresh.end(usedAt: now.addingTimeInterval(TimeInterval(refresh.idle))).addingTimeInterval(tail)
        return true
    }
}
