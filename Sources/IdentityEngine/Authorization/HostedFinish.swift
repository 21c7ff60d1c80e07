internal import Foundation

/// A sign-in on the pages with all required proofs, and the state that its code depends on.
struct ProvedSignIn: Sendable {
    var transaction: SignInTransaction
    /// The stored version; 0 for a new transaction.
    var version: Int64
    var user: StoredUser
    /// The open session of the browser; it can belong to another user.
    var session: Session?
    var snapshot: OrgSnapshot
    var server: AuthorizationServerDefinition
    /// The writes to commit with it, except for the user.
    var writes = Writes()
    /// Whether the user record differs from the stored one.
    var isUserChanged = false
}

extension IdentityEngine {
    /// Issues the code to the client, and the session to the browser.
    ///
    /// A session that alone proved the sign-in keeps its secret. A new proof replaces the secret or starts a session, so that an attacker
    /// cannot fix the session in advance (RFC 9700 section 4.7).
    func finish(_ proved: ProvedSignIn, context: RequestContext) throws -> Plan<HostedAnswer> {
        let transaction = proved.transaction
        guard let hosted = transaction.hosted, hosted.authentication != nil else {
            return Plan(HostedAnswer(.refused(HostedRefusal(.over))))
        }
        let evaluation = AccessPolicyEvaluation(
            of: proved.server,
            for: .init(
                clientID: transaction.applicationID, grantType: GrantType.authorizationCode, groups: proved.user.value.groups,
                scopes: transaction.scopes))
        do throws(Refusal) {
            _ = try evaluation.permitted()
        } catch {
            return try denied(proved, error)
        }
        var writes = proved.writes
        let (session, secret, sessionWrites, logouts) = try session(after: proved, context: context)
        writes += sessionWrites
        // A new session began with a proof, so its device becomes known. It gets a new secret, because an attacker may have planted the old one.
        var user = proved.user.value
        var device: String?
        if secret != nil, !user.knowsBrowser(of: RequestOrigin(browserOf: context)) {
            let made = try environment.random.secret()
            user.remember(browser: made, provedBy: Set(transaction.proofs.map(\.factor.rawValue)))
            device = made
        }
        if proved.isUserChanged || user != proved.user.value { writes += [.put(try proved.user.record(holding: user))] }
        let (code, codeWrites) = try code(for: proved, hosted, in: session, now: context.now)
        writes += codeWrites
        writes.log(
            "authorization.code", .success, reason: evaluation.explanation, userID: user.id, clientID: transaction.applicationID,
            server: transaction.server)
        let issuer = proved.snapshot.issuer(of: proved.server)
        var answer = HostedAnswer(.respond(AuthorizationResponse(code: code, to: hosted.request, issuer: issuer)))
        answer.cookies.session = secret
        answer.cookies.device = device
        answer.logouts = logouts
        return Plan(answer, writes)
    }

    /// Refuses the client that the access policy denies. A page that is loaded again gets the same answer without another log event.
    private func denied(_ proved: ProvedSignIn, _ refusal: Refusal) throws -> Plan<HostedAnswer> {
        var transaction = proved.transaction
        guard let request = transaction.hosted?.request else { return Plan(HostedAnswer(.refused(HostedRefusal(.over)))) }
        var writes = proved.writes
        writes.log(
            "authorization.code", .denied, reason: refusal.reason, userID: proved.user.value.id, clientID: transaction.applicationID,
            server: transaction.server)
        if proved.version > 0 {
            transaction.end = .refused
            transaction.hosted?.refused = .init(error: refusal.code.rawValue, description: refusal.description)
            writes += [.put(try transaction.record(version: proved.version))]
        }
        let issuer = proved.snapshot.issuer(of: proved.server)
        return Plan(HostedAnswer(.respond(AuthorizationResponse(refusal, to: request, issuer: issuer))), writes)
    }

    /// A new code, and its writes; the previous code becomes invalid.
    private func code(
        for proved: ProvedSignIn, _ hosted: HostedSignIn, in session: Session, now: Date
    ) throws -> (code: String, Writes) {
        var transaction = proved.transaction
        let code = try environment.random.secret(prefix: "ac_")
        let digest = TicketDigest(of: code)
        transaction.hosted?.code = digest.bytes
        transaction.hosted?.firstCodeAt = hosted.firstCodeAt ?? now
        transaction.hosted?.session = session.id
        let ticket = Ticket(
            kind: .authorizationCode, digest: digest, owner: RecordReference(.transaction, transaction.id), use: .once,
            expiresAt: now.addingTimeInterval(HostedSignIn.codeLifetime))
        let closing = hosted.code.map { [Change.close(.authorizationCode, digest: TicketDigest(bytes: $0))] } ?? []
        return (code, Writes(closing + [.put(try transaction.record(version: proved.version)), .issue(ticket)]))
    }

    /// Returns the session after a sign-in, its new secret if any, and the writes. If another user's session ends, also returns its logout
    /// tokens.
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
