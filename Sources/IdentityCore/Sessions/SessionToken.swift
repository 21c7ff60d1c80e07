package import Foundation
package import Store

/// A one-time token that starts a session without a page (Documentation/Protocol/OAuth.md §2.3, `sessionToken`). It is a ticket for a
/// completed sign-in, whose proofs count like those of a session. An attacker could open the authorize endpoint in a user's browser with
/// the attacker's own token. Therefore a token is short-lived and single-use, and clients check `state`.
package enum SessionToken {
    /// Seconds for which a token is valid.
    package static let lifetime: TimeInterval = 300

    /// Returns the sign-in of a token and its user; `nil` if the token is invalid, or the account changed since the sign-in.
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
    /// Issues a session token without a sign-in. Only for the sandbox, which vouches for the user. Returns a single-use token that is valid
    /// for five minutes; `nil` if there is no active user with this id. `isTwoFactors` adds the proof of a push to that of the password.
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
