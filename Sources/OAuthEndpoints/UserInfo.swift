internal import Foundation
package import IdentityCore
package import JOSE
package import OAuthWire

extension Engine {
    /// Returns the claims about an access token's user that the token's scopes permit (OpenID Connect Core section 5.3;
    /// Documentation/Protocol/OAuth.md §2.11). The result includes every revocation that was committed before. The use of a proof is
    /// committed, so that a proof is valid once.
    /// - Parameters:
    ///   - accessToken: The token; `nil` if the request had none.
    ///   - proof: The proof of the scheme `DPoP`; `nil` for the scheme `Bearer`.
    ///   - server: The authorization server's id; `nil` for the org server.
    /// - Returns: `sub` and the claims of the granted scopes, or a refusal:
    ///   - `invalid_token` (401), also for a bound token without a proof of its key
    ///   - `invalid_dpop_proof` or `use_dpop_nonce` (401)
    ///   - `insufficient_scope` (403) for a token without `openid`
    package func userInfo(
        accessToken: String?, proof: PresentedProof? = nil, server: String?, context: RequestContext
    ) async throws -> Result<[String: JSONValue], Refusal> {
        let possession: ProofOfPossession?
        switch proofs.possession(proof, with: accessToken, now: context.now) {
        case .success(let good): possession = good
        case .failure(let refusal): return .failure(refusal)
        }
        return try await transact(context, refusing: Refusal.self) {
            TokenFinder.lookup(accessToken ?? "")
        } read: { reading in
            let snapshot = try reading.snapshot
            let finder = TokenFinder(
                snapshot: snapshot, server: try snapshot.knownServer(server), view: reading.view, now: context.now)
            return try finder.userInfo(accessToken, possession)
        } decide: { (claims: [String: JSONValue]) in
            var plan = Plan(Result<[String: JSONValue], Refusal>.success(claims))
            if let use = possession?.use { plan.uses.append(.init(change: use.change, refused: .failure(.usedProof))) }
            return plan
        }
    }
}

extension TokenFinder {
    fileprivate func userInfo(_ accessToken: String?, _ possession: ProofOfPossession?) throws -> [String: JSONValue] {
        guard let accessToken, let (claims, _, user) = try access(accessToken) else {
            throw Refusal(.invalidToken, "The access token is invalid or expired.", reason: "token.invalid")
        }
        try claims.requireBinding(to: possession)
        guard let user else {
            throw Refusal(.insufficientScope, "The access token is not for a user.", reason: "token.no_user")
        }
        let source = ClaimSource(user: user, server: server, scopes: claims.scopes)
        guard source.isOpenID else {
            throw Refusal(.insufficientScope, "The access token must have the scope openid.", reason: "token.no_openid")
        }
        var answer = try ClaimSource.custom(of: server, for: .idToken, scopes: claims.scopes, user: user)
        answer.merge(try source.forUserInfo()) { _, standard in standard }
        answer["sub"] = .string(user.id)
        return answer
    }
}
