internal import Foundation
package import IdentityCore
internal import JOSE
package import OAuthWire
internal import Store

/// The last step of every user grant: evaluates the access policy, creates the grant, and issues the first tokens.
package struct UserGrant: Sendable, Redacted {
    package let request: AdmittedRequest
    package let user: User
    package let authentication: AuthenticationContext
    package let scopes: [String]
    var nonce: String?
    /// The session of the tokens; `nil` for none.
    var sessionID: String?
    /// The device secret that the request presented; `nil` for none.
    var deviceSecret: String?
    /// The id of the grant; `nil` for a random one.
    var id: String?
    /// The type of the access token in the answer to a token exchange; `nil` for other grants.
    var issuedTokenType: String?

    /// Issues the tokens after a factor was proved. `writes` are committed even if the policy denies the tokens, so that a code is
    /// consumed.
    package func issue(afterProof writes: Writes, _ engine: Engine) throws -> TokenDecision {
        do { return try issue(engine, after: writes) } catch let refusal as Refusal { return .refused(refusal, writes, userID: nil) }
    }

    /// Issues the tokens. The same commit applies `writes` before the grant. Throws ``Refusal`` with `access_denied` if no access policy
    /// allows the tokens.
    func issue(_ engine: Engine, after writes: Writes = Writes()) throws -> TokenDecision {
        let now = request.context.now
        let evaluation = AccessPolicyEvaluation(
            of: request.server,
            for: .init(clientID: request.application.id, grantType: request.grantType, groups: user.groups, scopes: scopes))
        let lifetimes = try evaluation.permitted()
        let random = engine.environment.random

        var grant = Grant(
            id: try id ?? random.identifier(prefix: "gra"), clientID: request.application.id, server: request.server.id, userID: user.id,
            scopes: scopes, grantType: request.grantType, rule: evaluation.explanation, createdAt: now,
            account: .init(user), authentication: .init(authentication, firstIssuedAt: now), accessTokenLifetime: lifetimes.accessToken,
            expiresAt: now.addingTimeInterval(TimeInterval(max(lifetimes.accessToken, TokenIssuer.idTokenLifetime))))
        grant.sessionID = sessionID
        grant.keyThumbprint = request.boundKeyThumbprint
        var refresh: RefreshTokenSuccessor?
        if scopes.contains(ScopeRequest.offlineAccess) {
            grant.refresh = .init(
                id: try random.identifier(prefix: "oar"), endsAt: lifetimes.refreshToken.map { now.addingTimeInterval(TimeInterval($0)) },
                idle: lifetimes.refreshTokenIdle, usedAt: now)
            grant.keepForRefresh(now: now)
            refresh = try RefreshTokenSuccessor(
                of: grant, use: request.application.refreshTokenRotation == .static ? .untilClosed : .once, now: now, random: random)
        }
        var secret = deviceSecret
        var secretTicket: [Change] = []
        if secret == nil, scopes.contains(ScopeRequest.deviceSSO) {
            let fresh = try random.secret(prefix: DeviceSecret.prefix)
            secret = fresh
            secretTicket = [.issue(DeviceSecret.ticket(of: grant, digest: TicketDigest(of: fresh)))]
            if grant.sessionID == nil { grant.sessionID = try random.identifier(prefix: "ses") }
        }
        grant.deviceSecret = secret.map { TicketDigest(of: $0).bytes }
        var response = try request.issuer(engine).response(
            for: grant, user: user, scopes: scopes, refreshToken: refresh?.secret, nonce: nonce)
        response.deviceSecret = scopes.contains(ScopeRequest.deviceSSO) ? secret : nil
        response.issuedTokenType = issuedTokenType
        let changes: [Change] = [.put(grant.record)] + (refresh.map { [.issue($0.ticket)] } ?? []) + secretTicket
        return .issued(response, writes + changes, rule: evaluation.explanation, userID: user.id)
    }
}
