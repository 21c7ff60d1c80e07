internal import Foundation
internal import IdentityCore
internal import OAuthWire
internal import Store

extension Engine {
    /// Issues the code to the client, and the session to the browser. If the session alone proved the sign-in, it keeps its secret. A new
    /// proof replaces the secret or starts a session, so that an attacker cannot fix the session in advance (RFC 9700 section 4.7).
    func finish(_ proved: ProvedSignIn, context: RequestContext) throws -> Plan<HostedAnswer> {
        let transaction = proved.transaction
        guard let authorization = transaction.authorization, transaction.authentication != nil else {
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
        let (session, secret, sessionWrites) = try session(after: proved, context: context)
        writes += sessionWrites
        // A new session began with a proof, so its device becomes known. The device gets a new secret, because an attacker may have planted
        // the old one.
        var user = proved.user.value
        var device: String?
        if secret != nil, !user.knowsBrowser(of: RequestOrigin(browserOf: context)) {
            let made = try environment.random.secret()
            user.remember(browser: made, provedBy: Set(transaction.proofs.map(\.factor.rawValue)))
            device = made
        }
        if proved.isUserChanged || user != proved.user.value { writes += [.put(try proved.user.record(holding: user))] }
        let (code, codeWrites) = try code(for: proved, authorization, in: session, now: context.now)
        writes += codeWrites
        writes.log(
            "authorization.code", .success, reason: evaluation.explanation, userID: user.id, clientID: transaction.applicationID,
            server: transaction.server)
        let issuer = proved.snapshot.issuer(of: proved.server)
        var answer = HostedAnswer(.respond(AuthorizationResponse(code: code, to: authorization.request, issuer: issuer)))
        answer.cookies.session = secret
        answer.cookies.device = device
        return Plan(answer, writes)
    }

    /// Returns the error for a client that the access policy denies. The sign-in stores the error, so that reloading the page returns it
    /// without another log event.
    private func denied(_ proved: ProvedSignIn, _ refusal: Refusal) throws -> Plan<HostedAnswer> {
        var transaction = proved.transaction
        guard let request = transaction.authorization?.request else { return Plan(HostedAnswer(.refused(HostedRefusal(.over)))) }
        var writes = proved.writes
        writes.log(
            "authorization.code", .denied, reason: refusal.reason, userID: proved.user.value.id, clientID: transaction.applicationID,
            server: transaction.server)
        if proved.version > 0 {
            transaction.end = .refused
            transaction.hosted?.refused = .init(error: refusal.code.wireName, description: refusal.description)
            writes += [.put(try transaction.record(version: proved.version))]
        }
        let issuer = proved.snapshot.issuer(of: proved.server)
        return Plan(HostedAnswer(.respond(AuthorizationResponse(refusal, to: request, issuer: issuer))), writes)
    }

    /// Returns a new code and its writes, which invalidate the previous code.
    private func code(
        for proved: ProvedSignIn, _ authorization: Authorization, in session: Session, now: Date
    ) throws -> (code: String, Writes) {
        var transaction = proved.transaction
        let code = try environment.random.secret(prefix: "ac_")
        let digest = TicketDigest(of: code)
        transaction.authorization?.code = digest.bytes
        transaction.authorization?.firstCodeAt = authorization.firstCodeAt ?? now
        transaction.sessionID = session.id
        let ticket = Ticket(
            kind: .authorizationCode, digest: digest, owner: RecordReference(.transaction, transaction.id), use: .once,
            expiresAt: now.addingTimeInterval(HostedSignIn.codeLifetime))
        let closing = authorization.code.map { [Change.close(.authorizationCode, digest: TicketDigest(bytes: $0))] } ?? []
        return (code, Writes(closing + [.put(try transaction.record(version: proved.version)), .issue(ticket)]))
    }
}
