internal import Foundation
internal import JOSE

extension IdentityEngine {
    /// Revokes a token (RFC 7009; oauth reference 2.10).
    ///
    /// An access token goes alone; a refresh token takes its family and every access token of its grant along. A token that is
    /// unknown, over, revoked before or another client's changes nothing and is no refusal. On disk before this returns.
    ///
    /// - Parameters:
    ///   - request: The parameter `token`; a hint is not needed.
    ///   - context: When and from where it came.
    /// - Returns: Nothing, or a refusal of the request itself.
    /// - Throws: ``StoreError`` if the store failed; then nothing was revoked.
    public func revoke(_ request: TokenRequest, context: RequestContext) async throws -> Result<Void, Refusal> {
        let found = try await answerAboutToken(request, type: "token.revoke", context: context) { application, finder, token in
            try Revocable(token, of: application, finder: finder)
        }
        guard case .success(let revocable?) = found else { return found.map { _ in () } }
        if case .deviceSecret(let digest, let clientID) = revocable {
            try await revokeDeviceSecret(digest, clientID: clientID, server: request.server, context: context)
            return .success(())
        }
        if case .transaction(let secret, let clientID) = revocable {
            _ = try await cancelTransaction(by: secret, clientID: clientID, server: request.server, context: context)
            return .success(())
        }
        for _ in 0..<Self.attempts {
            guard let grant = try await store.read({ try $0.record(.grant, id: revocable.grantID).map(Grant.init) }),
                let changes = revocable.changes(to: grant, now: context.now)
            else { return .success(()) }
            let line = try logEntry(
                revocable.logType, .success, reason: grant.id, userID: grant.userID, clientID: grant.clientID, server: request.server,
                context: context)
            if try await store.commit(changes + [line]) == .committed { return .success(()) }
        }
        throw StoreError(.unavailable, "The revocation met other writers \(Self.attempts) times. Try it again.")
    }

    /// Revokes every grant of a user, and those that are made at this moment by sign-ins that were let in before: signed out everywhere.
    /// Called again, it revokes what was made since.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - context: When and from where it was asked.
    /// - Returns: How many grants were revoked.
    /// - Throws: ``StoreError`` if the store failed; all are closed then, if any is revoked.
    @discardableResult
    func revokeAllGrants(ofUser userID: String, context: RequestContext) async throws -> Int {
        // The account first: from then on each of them is closed. What follows tells it to who looks at the grant alone.
        if case .unknownUser = try await markGrantsEnded(ofUser: userID, context: context) { return 0 }
        let grants = try await store.read { view in
            try view.records(.grant, where: "user", is: userID, limit: .max).map(Grant.init).filter { $0.revokedAt == nil }
        }
        for grant in grants {
            try await revoke(grantID: grant.id, context: context)
        }
        return grants.count
    }

    private func revoke(grantID: String, context: RequestContext) async throws {
        for _ in 0..<Self.attempts {
            guard let grant = try await store.read({ try $0.record(.grant, id: grantID).map(Grant.init) }), grant.revokedAt == nil else {
                return
            }
            let line = try logEntry(
                "grant.revoked", .success, reason: grant.id, userID: grant.userID, clientID: grant.clientID, server: grant.server,
                context: context)
            if try await store.commit(grant.revoking(at: context.now) + [line]) == .committed { return }
        }
        throw StoreError(.unavailable, "The revocation met other writers \(Self.attempts) times. Try it again.")
    }
}

/// What a client's own token would take along.
private enum Revocable: Sendable {
    case accessToken(id: String, grantID: String, issuedAt: Int, expiresAt: Int)
    case grant(String)
    /// A sign-in that is under way, by the secret that leads to it.
    case transaction(String, clientID: String)
    /// What the apps of a device share, by one of them.
    case deviceSecret(TicketDigest, clientID: String)

    /// Nil if there is nothing to revoke.
    init?(_ token: String, of application: Application, finder: TokenFinder) throws {
        if ["mfa_", "oob_", "ft_"].contains(where: token.hasPrefix) {
            self = .transaction(token, clientID: application.id)
        } else if token.hasPrefix(DeviceSecret.prefix) {
            let digest = TicketDigest(of: token)
            guard try finder.view.openGrants(by: digest).contains(where: { $0.clientID == application.id }) else { return nil }
            self = .deviceSecret(digest, clientID: application.id)
        } else if token.utf8.contains(UInt8(ascii: ".")) {
            guard let (claims, grant, _) = try finder.access(token), grant.clientID == application.id, let id = claims.jwtID,
                let issuedAt = claims.issuedAt, let expiresAt = claims.expiresAt
            else { return nil }
            self = .accessToken(id: id, grantID: grant.id, issuedAt: Int(clamping: issuedAt), expiresAt: Int(clamping: expiresAt))
        } else {
            // A token that was replaced revokes as well: its holder may have lost the answer that replaced it.
            guard let ticket = try finder.view.ticket(.refreshToken, digest: TicketDigest(of: token), now: finder.now).ticket,
                let grant = try finder.view.record(.grant, id: ticket.owner.id).map(Grant.init), grant.clientID == application.id,
                grant.server == finder.server.id
            else { return nil }
            self = .grant(grant.id)
        }
    }

    var grantID: String {
        switch self {
        case .accessToken(_, let grantID, _, _), .grant(let grantID): grantID
        case .transaction, .deviceSecret: ""
        }
    }

    var logType: String {
        switch self {
        case .accessToken: "token.revoke.access_token"
        case .grant: "token.revoke.refresh_token"
        case .transaction: "user.authentication.cancel"
        case .deviceSecret: "token.revoke.device_secret"
        }
    }

    /// Nil if it is revoked already.
    func changes(to grant: Grant, now: Date) -> [Change]? {
        switch self {
        case .transaction, .deviceSecret: return nil
        case .grant:
            return grant.revokedAt == nil ? grant.revoking(at: now) : nil
        case .accessToken(let id, _, let issuedAt, let expiresAt):
            guard !grant.isRevoked(tokenID: id, issuedAt: issuedAt) else { return nil }
            var changed = grant
            changed.revokedTokens.insert(id, issuedAt: issuedAt, expiresAt: expiresAt, now: Int(now.numericDate))
            return [.put(changed.record)]
        }
    }
}
