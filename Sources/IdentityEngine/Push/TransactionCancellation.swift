internal import Foundation

extension StoreView {
    /// Returns the writes that cancel the transaction of an `mfa_token`, an `oob_code` or an `auth_req_id`. A later approval has no effect,
    /// and the device gets an error.
    ///
    /// - Parameters:
    ///   - secret: The `mfa_token`, `oob_code` or `auth_req_id`; other tokens return `nil`.
    ///   - clientID: The client, authenticated.
    ///   - server: The authorization server's id; `nil` for the org server.
    ///   - now: The time.
    /// - Returns: `nil` if the secret is none of those; empty if it is unknown, over or another client's.
    /// - Throws: ``StoreError``.
    func cancellation(by secret: String, clientID: String, server: String?, now: Date) throws -> Writes? {
        let kinds = ["mfa_": TicketKind.mfaToken, "oob_": .oobCode, "ft_": .backchannelRequest]
        guard let kind = kinds.first(where: { secret.hasPrefix($0.key) })?.value else { return nil }
        // A code that a newer challenge replaced is invalid: cancelling it must not end the sign-in.
        guard case (let stored, .fresh)? = try transaction(kind, secret: secret, now: now), stored.value.applicationID == clientID,
            stored.value.server == server, stored.value.end == nil
        else { return Writes() }
        let (next, _, effects) = stored.value.step(.cancelled, now: now)
        let changes = [try stored.writing(next), .closeTickets(of: RecordReference(.transaction, next.id))]
        return try Writes(effects, of: next, user: nil) + changes
    }
}
