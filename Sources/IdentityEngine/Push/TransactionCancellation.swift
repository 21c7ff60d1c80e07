internal import Foundation

extension IdentityEngine {
    /// Ends the transaction that an `mfa_token`, an `oob_code` or an `auth_req_id` leads to, so that a later approval signs nobody in
    /// and the device is told. What is unknown, over or another client's changes nothing.
    ///
    /// - Parameters:
    ///   - secret: What the client holds.
    ///   - clientID: The client, authenticated.
    ///   - server: The authorization server's id that was asked; nil for the org server.
    ///   - context: When and from where it came.
    /// - Returns: Whether the secret was one of those.
    /// - Throws: ``StoreError`` if the store failed; then nothing was ended.
    func cancelTransaction(by secret: String, clientID: String, server: String?, context: RequestContext) async throws -> Bool {
        guard let kind = Self.kind(ofSecret: secret) else { return false }
        return try await transact(context) { reading in
            try reading.view.transaction(kind, secret: secret, now: context.now)
        } decide: { found in
            // A code that a newer challenge replaced is invalid: cancelling it must not end the sign-in.
            guard case (let stored, .fresh)? = found, stored.value.applicationID == clientID, stored.value.server == server,
                stored.value.end == nil
            else { return Plan(true) }
            let (next, _, effects) = stored.value.step(.cancelled, now: context.now)
            let changes = [try stored.writing(next), .closeTickets(of: RecordReference(.transaction, next.id))]
            return Plan(true, try Writes(effects, of: next, user: nil) + changes)
        }
    }

    private static func kind(ofSecret secret: String) -> TicketKind? {
        if secret.hasPrefix("mfa_") { return .mfaToken }
        if secret.hasPrefix("oob_") { return .oobCode }
        if secret.hasPrefix("ft_") { return .backchannelRequest }
        return nil
    }
}
