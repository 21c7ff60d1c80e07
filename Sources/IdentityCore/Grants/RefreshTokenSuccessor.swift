package import Foundation
internal import JOSE
package import Store

/// A new refresh token: the secret for the client, the ticket for the store.
package struct RefreshTokenSuccessor: Sendable, Redacted {
    package let secret: String
    package let ticket: Ticket

    /// Creates a token. A token of a rotating family is consumed by one use; a static token is valid until it is closed. A family never
    /// changes its mode.
    package init(of grant: Grant, use: Ticket.Use, now: Date, random: any RandomSource) throws {
        secret = try random.secret(prefix: "rt_")
        // A static token's idle expiry moves with each use, which the grant records; a rotating token is replaced at each use.
        let end = use == .once ? grant.refresh?.end(usedAt: now) : grant.refresh?.endsAt
        ticket = Ticket(
            kind: .refreshToken, digest: TicketDigest(of: secret), owner: RecordReference(.grant, grant.id), use: use, expiresAt: end)
    }
}

extension Grant.RefreshFamily {
    /// Seconds by which ``usedAt`` may lag behind the last use of a static token: 1 percent of the idle time, at most 60.
    package var useGranularity: TimeInterval { min(TimeInterval(idle) / 100, 60) }

    /// Returns the expiry of a token that was last used or issued at `time`: the idle expiry or the family's, whichever is earlier.
    package func end(usedAt time: Date) -> Date {
        let idleEnd = time.addingTimeInterval(TimeInterval(idle))
        return endsAt.map { min($0, idleEnd) } ?? idleEnd
    }
}

extension Grant {
    /// Extends the record's expiry if a refresh token issued now, or a token issued with it, would outlive the record. The new expiry is
    /// two idle times from now, or the family's end if that is earlier, plus the lifetime of access or ID tokens. So a family in use
    /// rewrites its grant once per idle time. Returns whether the record must be written.
    @discardableResult
    package mutating func keepForRefresh(now: Date) -> Bool {
        guard let refresh else { return false }
        let tail = TimeInterval(max(accessTokenLifetime, TokenIssuer.idTokenLifetime))
        guard expiresAt < refresh.end(usedAt: now).addingTimeInterval(tail) else { return false }
        expiresAt = refresh.end(usedAt: now.addingTimeInterval(TimeInterval(refresh.idle))).addingTimeInterval(tail)
        return true
    }
}
