package import Foundation
package import Store

/// The one-time token that begins a session without a page (oauth reference 2.3, `sessionToken`): a ticket that leads to a sign-in that
/// was finished elsewhere, whose proofs count like those of a session.
///
/// Whoever sends a browser to the authorize endpoint with one signs it in as somebody of their choice; so it is short-lived and good
/// once, and clients hold the answer to their own `state`.
package enum SessionToken {
    /// Seconds that one is good for.
    package static let lifetime: TimeInterval = 300

    /// The sign-in that a token leads to, and whose it is; nil if there is none, or the account changed since.
    package static func proved(
        _ digest: TicketDigest, in view: any StoreView, now: Date
    ) throws -> (transaction: SignInTransaction, user: StoredUser)? {
        guard case .fresh(let ticket) = try view.ticket(.sessionToken, digest: digest, now: now), ticket.owner.kind == .transaction,
            let stored = try view.record(.transaction, id: ticket.owner.id).map(StoredTransaction.init), stored.value.end == .authenticated,
            let id = stored.value.userID, let user = try view.record(.user, id: id).map(StoredUser.init), stored.value.isAbout(user.value),
            user.value.status == .active
        else { return nil }
        return (stored.value, user)
    }
}

extension Engine {
    /// Makes a one-time token that begins a person's session: for the sandbox, which vouches for them.
    ///
    /// - Parameters:
    ///   - userID: The person.
    ///   - isTwoFactors: Whether a push counts as proved beside the password.
    ///   - context: The request.
    /// - Returns: The token, good for five minutes and once; nil if there is no such active person.
    /// - Throws: ``StoreError`` if the store failed.
    package func mintSessionToken(userID: String, isTwoFactors: Bool = true, context: RequestContext) async throws -> String? {
        try await transact(context) { [self] reading in
            try user(id: userID, in: reading.view)?.value
        } decide: { user in
            guard let user, user.status == .active else { return Plan(nil) }
            var transaction = SignInTransaction(
                id: try environment.random.identifier(prefix: "txn"),
                request: SignInRequest(
                    application: Application(id: "", name: "", kind: .service, signOnPolicy: ""), server: nil, scopes: []),
                now: context.now, lifetime: SessionToken.lifetime)
            transaction.meet(user)
            transaction.proofs = [.init(factor: .password, factorClasses: [.knowledge], methods: ["pwd"], time: context.now)]
            if isTwoFactors {
                transaction.proofs.append(.init(factor: .push, factorClasses: [.possession], methods: ["swk"], time: context.now))
            }
            transaction.end = .authenticated
            let token = try environment.random.secret()
            let ticket = Ticket(
                kind: .sessionToken, digest: TicketDigest(of: token), owner: RecordReference(.transaction, transaction.id), use: .once,
                expiresAt: context.now.addingTimeInterval(SessionToken.lifetime))
            var writes = Writes([.put(try transaction.record()), .issue(ticket)])
            writes.log("user.session.token", .success, userID: user.id)
            return Plan(token, writes)
        }
    }
}
