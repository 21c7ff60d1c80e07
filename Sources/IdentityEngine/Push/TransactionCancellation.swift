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
        for _ in 0..<Self.attempts {
            // A code that a newer challenge replaced is over: whoever asks again lets go of the old one, and means to go on.
            guard case (let stored, .fresh)? = try await store.read({ try $0.transaction(kind, secret: secret, now: context.now) }),
                stored.value.applicationID == clientID, stored.value.server == server, stored.value.end == nil
            else { return true }
            let (next, _, effects) = stored.value.step(.cancelled, now: context.now)
            var changes = [try stored.writing(next), .closeTickets(of: RecordReference(.transaction, next.id))]
            for case .log(let type, let outcome, let reason) in effects {
                changes.append(
                    try logEntry(
                        type, outcome, reason: reason, userID: next.userID, clientID: clientID, server: next.server, context: context))
            }
            if try await store.commit(changes) == .committed { return true }
        }
        throw StoreError(.unavailable, "The transaction met other writers \(Self.attempts) times. Try it again.")
    }

    private static func kind(ofSecret secret: String) -> TicketKind? {
        if secret.hasPrefix("mfa_") { return .mfaToken }
        if secret.hasPrefix("oob_") { return .oobCode }
        if secret.hasPrefix("ft_") { return .backchannelRequest }
        return nil
    }
}
