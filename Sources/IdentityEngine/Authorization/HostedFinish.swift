internal import Foundation

/// A sign-in on the pages that proved all that was asked for, and what must be known to give its client a code.
struct ProvedSignIn: Sendable {
    var transaction: SignInTransaction
    /// The stored version; 0 if it was not stored yet.
    var version: Int64
    var user: StoredUser
    /// The browser's open session, whoever's it is.
    var session: Session?
    var snapshot: OrgSnapshot
    var server: AuthorizationServerDefinition
    /// The changes to commit with it, except for the user.
    var changes: [Change] = []
    /// Whether the user record differs from the stored one.
    var isUserChanged = false
}

extension IdentityEngine {
    /// Gives the client its code, and the browser its session.
    ///
    /// What the session alone proved leaves its secret as it is; what was proved now gives it a new one, or begins one, so that a
    /// secret that somebody knew before leads nowhere (RFC 9700 section 4.7; session fixation).
    ///
    /// - Returns: Nil if somebody else was faster.
    func finish(_ proved: ProvedSignIn, context: RequestContext) async throws -> HostedAnswer? {
        let now = context.now
        var transaction = proved.transaction
        guard let hosted = transaction.hosted, hosted.authentication != nil else { return HostedAnswer(.refused(HostedRefusal(.over))) }
        let issuer = proved.snapshot.issuer(of: proved.server)
        let evaluation = AccessPolicyEvaluation(
            of: proved.server,
            for: .init(
                clientID: transaction.applicationID, grantType: GrantType.authorizationCode, groups: proved.user.value.groups,
                scopes: transaction.scopes))
        var changes = proved.changes
        do throws(Refusal) {
            _ = try evaluation.permitted()
        } catch {
            changes.append(
                try logEntry(
                    "authorization.code", .denied, reason: error.reason, userID: proved.user.value.id, clientID: transaction.applicationID,
                    server: transaction.server, context: context))
            // Told once: who loads the page again gets the same answer, and no further line.
            if proved.version > 0 {
                transaction.end = .refused
                transaction.hosted?.refused = .init(error: error.code.rawValue, description: error.description)
                changes.append(.put(try transaction.record(version: proved.version)))
            }
            guard try await store.commit(changes) == .committed else { return nil }
            return HostedAnswer(.respond(AuthorizationResponse(error, to: hosted.request, issuer: issuer)))
        }

        let (session, secret, sessionWrites, logouts) = try session(after: proved, context: context)
        changes += try self.changes(of: sessionWrites, context: context)
        // A new session began with a proof, so its device becomes known. It gets a new secret, because an attacker may have planted the old one.
        var user = proved.user.value
        var device: String?
        if secret != nil, !user.knowsBrowser(of: RequestOrigin(browserOf: context)) {
            let made = try environment.random.secret()
            user.remember(browser: made, provedBy: Set(transaction.proofs.map(\.factor.rawValue)))
            device = made
        }
        if proved.isUserChanged || user != proved.user.value { changes.append(.put(try proved.user.record(holding: user))) }
        let code = try environment.random.secret(prefix: "ac_")
        let digest = TicketDigest(of: code)
        if let earlier = hosted.code { changes.append(.close(.authorizationCode, digest: TicketDigest(bytes: earlier))) }
        transaction.hosted?.code = digest.bytes
        transaction.hosted?.firstCodeAt = hosted.firstCodeAt ?? now
        transaction.hosted?.session = session.id
        changes += [
            .put(try transaction.record(version: proved.version)),
            .issue(
                Ticket(
                    kind: .authorizationCode, digest: digest, owner: RecordReference(.transaction, transaction.id), use: .once,
                    expiresAt: now.addingTimeInterval(HostedSignIn.codeLifetime))),
            try logEntry(
                "authorization.code", .success, reason: evaluation.explanation, userID: proved.user.value.id,
                clientID: transaction.applicationID, server: transaction.server, context: context),
        ]
        guard try await store.commit(changes) == .committed else { return nil }
        var answer = HostedAnswer(.respond(AuthorizationResponse(code: code, to: hosted.request, issuer: issuer)))
        answer.cookies.session = secret
        answer.cookies.device = device
        answer.logouts = logouts
        return answer
    }

    /// The session after a sign-in, its new secret if it has one, its writes, and the logout tokens for the applications whose session ends
    /// by them.
    func session(
        after proved: ProvedSignIn, context: RequestContext
    ) throws -> (Session, secret: String?, Writes, logouts: [BackchannelLogout]) {
        let now = context.now
        let user = proved.user.value
        let client = Session.Client(id: proved.transaction.applicationID, server: proved.transaction.server)
        // Given once before, the secret may not have arrived.
        let isNew = proved.transaction.proofs.count > (proved.transaction.hosted?.inherited ?? 0) || proved.transaction.hosted?.code != nil
        var writes = Writes()
        if var session = proved.session, session.userID == user.id {
            session.use(by: client, now: now)
            session.add(proved.transaction.proofs)
            guard isNew else { return (session, nil, Writes([.put(try session.record())]), []) }
            let secret = try environment.random.secret()
            writes += [.close(.session, digest: TicketDigest(bytes: session.ticket))]
            session.ticket = TicketDigest(of: secret).bytes
            writes += [.put(try session.record()), .issue(session.secretTicket)]
            return (session, secret, writes, [])
        }
        // One browser, one person: somebody else's session ends.
        var logouts: [BackchannelLogout] = []
        if let other = proved.session {
            writes += other.ending(reason: "somebody else signed in", clientID: client.id, server: client.server)
            logouts = try backchannelLogouts(of: SessionSummary(other), snapshot: proved.snapshot, now: now)
        }
        let secret = try environment.random.secret()
        var session = Session(
            id: try environment.random.identifier(prefix: "ses"), of: user, proofs: proved.transaction.proofs,
            policy: proved.snapshot.sessions, secret: secret, now: now)
        session.use(by: client, now: now)
        writes += [.put(try session.record()), .issue(session.secretTicket)]
        writes.log("user.session.start", .success, userID: user.id, clientID: client.id, server: client.server)
        return (session, secret, writes, logouts)
    }
}
