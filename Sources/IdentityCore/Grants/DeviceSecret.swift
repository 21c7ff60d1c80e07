package import Foundation
internal import JOSE
package import Store

/// The secret by which the apps of one device share a sign-in (OpenID Connect Native SSO 1.0; Documentation/Protocol/OAuth.md §2.4.7). The
/// secret is a ticket of the grant with which it was issued. It expires and is revoked with the refresh tokens of this grant. Every grant
/// that was obtained with the secret, including the first, stores the secret's hash, so that all these grants can be revoked together.
package enum DeviceSecret {
    package static let prefix = "ds_"
    package static let tokenType = "urn:x-oath:params:oauth:token-type:device-secret"
    /// The maximum number of grants that one commit revokes.
    package static let most = 100

    /// The rows of a secret: the grant with which it was issued, its user, and all grants that share it.
    package static func lookup(_ digest: TicketDigest) -> Lookup {
        Lookup(
            .ticket(.deviceSecret, digest, .owner(.named(.user, byKey: "user"))), grants(digest))
    }

    /// The grants that share a secret.
    package static func grants(_ digest: TicketDigest) -> Lookup.Node {
        .records(.grant, where: Grant.deviceSecretKey, is: Base64URL.encode(digest.bytes), limit: .max)
    }

    /// Returns the ticket of a new secret.
    package static func ticket(of grant: Grant, digest: TicketDigest) -> Ticket {
        Ticket(
            kind: .deviceSecret, digest: digest, owner: RecordReference(.grant, grant.id), use: .untilClosed,
            expiresAt: grant.refresh?.endsAt)
    }

    /// Returns the writes that revoke a device secret and its grants; no writes if `grants` is empty.
    package static func revocation(_ digest: TicketDigest, of grants: [Grant], clientID: String?, server: String?, now: Date) -> Writes {
        guard !grants.isEmpty else { return Writes() }
        var writes = Writes(grants.flatMap { $0.revoking(at: now) } + [.close(.deviceSecret, digest: digest)])
        writes.log(
            "token.revoke.device_secret", .success, reason: "\(grants.count) grants", userID: grants.first?.userID, clientID: clientID,
            server: server)
        return writes
    }

    /// Returns the claim `ds_hash`: the left half of the secret's SHA-256, in base64url (Documentation/Protocol/OAuth.md §3.6).
    package static func hash(_ digest: [UInt8]) -> String { Base64URL.encode(Array(digest.prefix(16))) }
}

extension StoreView {
    /// Returns the grant with which a device secret was issued, and its user; `nil` unless secret, grant, client and account are valid.
    package func deviceGrant(_ digest: TicketDigest, server: String?, snapshot: OrgSnapshot, now: Date) throws -> (Grant, User)? {
        guard case .fresh(let ticket) = try ticket(.deviceSecret, digest: digest, now: now),
            let grant = try record(.grant, id: ticket.owner.id).map(Grant.init), grant.server == server, grant.revokedAt == nil,
            now < grant.expiresAt, snapshot.application(grant.clientID)?.isActive == true,
            let user = try grant.userID.flatMap({ try GrantUserReader.user(id: $0, in: self) }), grant.closure(by: user) == nil
        else { return nil }
        return (grant, user)
    }

    /// Returns the grants that share a device secret and are not revoked, at most ``DeviceSecret/most``.
    package func openGrants(by digest: TicketDigest) throws -> [Grant] {
        let all = try records(.grant, where: Grant.deviceSecretKey, is: Base64URL.encode(digest.bytes), limit: .max).map(Grant.init)
        return Array(all.filter { $0.revokedAt == nil }.prefix(DeviceSecret.most))
    }
}

extension Engine {
    /// Revokes a device secret and all grants that share it, for all apps (Documentation/Protocol/OAuth.md §2.10).
    package func revokeDeviceSecret(_ digest: TicketDigest, clientID: String?, server: String?, context: RequestContext) async throws {
        // Each commit revokes a limited number of grants.
        while try await transact(
            context,
            read: { try $0.view.openGrants(by: digest).filter { $0.server == server } },
            decide: { (grants: [Grant]) in
                let writes = DeviceSecret.revocation(digest, of: grants, clientID: clientID, server: server, now: context.now)
                return Plan(grants.count == DeviceSecret.most, writes)
            })
        {}
    }
}
