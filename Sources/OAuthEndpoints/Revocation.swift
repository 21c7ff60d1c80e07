internal import Foundation
package import IdentityCore
internal import JOSE
package import OAuthWire
internal import Store

extension Engine {
    /// Revokes a token (RFC 7009; Documentation/Protocol/OAuth.md §2.10). An access token is revoked alone. A refresh token is revoked with
    /// its family and all access tokens of its grant. For a token that is unknown, expired, revoked or another client's, the request is a
    /// no-op.
    /// - Parameter request: The parameter `token`; a hint is not needed.
    package func revoke(_ request: TokenRequest, context: RequestContext) async throws -> Result<Void, Refusal> {
        let result = try await answerAboutToken(request, type: "token.revoke", context: context) { application, finder, token in
            try TokenRevocation(token, of: application, finder: finder)
        } decide: { revocation in
            Plan(.success(revocation), revocation.writes)
        }
        if case .success(let revocation) = result, let digest = revocation.unfinished {
            try await revokeDeviceSecret(digest, clientID: revocation.clientID, server: request.server, context: context)
        }
        return result.map { _ in () }
    }
}

/// The revocation of a token by its client.
private struct TokenRevocation: Sendable {
    let clientID: String
    /// The writes that revoke the token; empty if it is unknown, expired, revoked or another client's.
    private(set) var writes = Writes()
    /// A device secret with more grants than one commit revokes; `nil` for none.
    private(set) var unfinished: TicketDigest?

    init(_ token: String, of application: Application, finder: TokenFinder) throws {
        clientID = application.id
        if let cancellation = try finder.view.cancellation(by: token, clientID: clientID, server: finder.server.id, now: finder.now) {
            writes = cancellation
        } else if token.hasPrefix(DeviceSecret.prefix) {
            try revoke(deviceSecret: TicketDigest(of: token), finder)
        } else if token.utf8.contains(UInt8(ascii: ".")) {
            try revoke(accessToken: token, finder)
        } else {
            try revoke(refreshToken: token, finder)
        }
    }

    private mutating func revoke(deviceSecret digest: TicketDigest, _ finder: TokenFinder) throws {
        let open = try finder.view.openGrants(by: digest)
        guard open.contains(where: { $0.clientID == clientID }) else { return }
        let grants = open.filter { $0.server == finder.server.id }
        writes = DeviceSecret.revocation(digest, of: grants, clientID: clientID, server: finder.server.id, now: finder.now)
        if grants.count == DeviceSecret.most { unfinished = digest }
    }

    private mutating func revoke(accessToken token: String, _ finder: TokenFinder) throws {
        guard let (claims, grant, _) = try finder.access(token), grant.clientID == clientID, let id = claims.jwtID,
            let issuedAt = claims.issuedAt, let expiresAt = claims.expiresAt
        else { return }
        var changed = grant
        changed.revokedTokens.insert(
            id, issuedAt: Int(clamping: issuedAt), expiresAt: Int(clamping: expiresAt), now: Int(clamping: finder.now.numericDate))
        write([.put(changed.record)], "token.revoke.access_token", of: grant)
    }

    private mutating func revoke(refreshToken token: String, _ finder: TokenFinder) throws {
        // A rotated token also revokes the grant, because the client may have lost the response with the new token.
        guard let ticket = try finder.view.ticket(.refreshToken, digest: TicketDigest(of: token), now: finder.now).ticket,
            let grant = try finder.view.record(.grant, id: ticket.owner.id).map(Grant.init), grant.clientID == clientID,
            grant.server == finder.server.id, grant.revokedAt == nil
        else { return }
        write(grant.revoking(at: finder.now), "token.revoke.refresh_token", of: grant)
    }

    private mutating func write(_ changes: [Change], _ type: String, of grant: Grant) {
        writes = Writes(changes)
        writes.log(type, .success, reason: grant.id, userID: grant.userID, clientID: grant.clientID, server: grant.server)
    }
}
