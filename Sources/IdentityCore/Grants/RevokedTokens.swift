internal import Foundation
internal import JOSE
internal import Store

/// The access tokens of one grant that were revoked one by one. Each entry is kept until the token's `exp`. Above ``limit`` entries, the
/// oldest token is removed, and all tokens issued up to its `iat` count as revoked, so that no revoked token becomes valid again.
package struct RevokedTokens: Sendable, Equatable {
    static let limit = 32

    private struct Entry: Sendable, Equatable {
        var id: String
        var issuedAt: Int
        var expiresAt: Int
    }

    private var entries: [Entry] = []
    /// The time, in seconds since 1970, up to which all issued tokens are revoked; `nil` for none.
    private var through: Int?

    init() {}

    func contains(_ id: String, issuedAt: Int) -> Bool {
        if let through, issuedAt <= through { return true }
        return entries.contains { $0.id == id }
    }

    /// Adds a token. All times are seconds since 1970.
    package mutating func insert(_ id: String, issuedAt: Int, expiresAt: Int, now: Int) {
        entries.removeAll { $0.expiresAt <= now || $0.id == id }
        entries.append(Entry(id: id, issuedAt: issuedAt, expiresAt: expiresAt))
        entries.sort { $0.issuedAt < $1.issuedAt }
        if entries.count > Self.limit { through = max(through ?? .min, entries.removeFirst().issuedAt) }
    }

    init(_ json: JSONValue?) {
        guard let json else { return }
        through = json["through"]?.intValue
        entries = (json["tokens"]?.arrayValue ?? []).compactMap { entry in
            guard let id = entry[0]?.stringValue, let issued = entry[1]?.intValue, let end = entry[2]?.intValue else { return nil }
            return Entry(id: id, issuedAt: issued, expiresAt: end)
        }
    }

    /// The stored form; `nil` if no token is revoked.
    var json: JSONValue? {
        guard !entries.isEmpty || through != nil else { return nil }
        var json: JSONValue = [
            "tokens": .array(entries.map { [.string($0.id), .integer(Int64($0.issuedAt)), .integer(Int64($0.expiresAt))] })
        ]
        json["through"] = through.map { .integer(Int64($0)) }
        return json
    }
}

extension Engine {
    /// Revokes every grant of the user. First marks the account, which closes all existing grants and those that sign-ins in progress
    /// create. Then marks each stored grant. If the store fails in between, the grants stay closed. A repeated call also revokes newer
    /// grants. Returns the number of grants that were marked.
    @discardableResult
    package func revokeAllGrants(ofUser userID: String, context: RequestContext) async throws -> Int {
        // Each grant is marked too, for readers that check only the grant.
        if case .unknownUser = try await markGrantsEnded(ofUser: userID, context: context) { return 0 }
        return try await revokeEndedGrants(ofUser: userID, context: context)
    }

    /// Marks the user's stored grants as revoked. Skips grants that are created after the call starts: if their sign-in is older, the mark
    /// on the account closes them. Returns the number of newly marked grants.
    @discardableResult
    func revokeEndedGrants(ofUser userID: String, context: RequestContext) async throws -> Int {
        try await inBatches(.grant, ofUser: userID) { ids in
            try await transact(context) { reading in
                try ids.compactMap { try reading.view.record(.grant, id: $0).map(Grant.init) }.filter { $0.revokedAt == nil }
            } decide: { (grants: [Grant]) in
                var writes = Writes(grants.flatMap { $0.revoking(at: context.now) })
                for grant in grants {
                    writes.log(
                        "grant.revoked", .success, reason: grant.id, userID: grant.userID, clientID: grant.clientID, server: grant.server)
                }
                return Plan(grants.count, writes)
            }
        }
    }
}
