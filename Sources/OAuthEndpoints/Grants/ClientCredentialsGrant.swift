internal import Foundation
internal import IdentityCore
internal import OAuthWire
internal import Store

/// The client credentials grant (RFC 6749 section 4.4; Documentation/Protocol/OAuth.md §2.4.3). The grant is stored like a user's grant, so
/// that its token can be introspected and revoked.
struct ClientCredentialsGrant: ConfigurationGrantHandler {
    static let grantType = GrantType.clientCredentials

    private let request: AdmittedRequest
    private let scopes: [String]

    init(_ request: AdmittedRequest) throws(Refusal) {
        guard request.application.isConfidential else {
            throw Refusal(
                .unauthorizedClient, "The client_credentials grant is for clients that authenticate themselves.", reason: "client.public")
        }
        self.request = request
        scopes = try ScopeRequest(request["scope"]).grantedToClient(request.application, by: request.server)
    }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        let now = request.context.now
        let evaluation = AccessPolicyEvaluation(
            of: request.server, for: .init(clientID: request.application.id, grantType: request.grantType, groups: nil, scopes: scopes))
        let lifetimes = try evaluation.permitted()
        let grant = Grant(
            id: try engine.environment.random.identifier(prefix: "gra"), clientID: request.application.id, server: request.server.id,
            scopes: scopes, grantType: request.grantType, rule: evaluation.explanation, createdAt: now,
            accessTokenLifetime: lifetimes.accessToken, expiresAt: now.addingTimeInterval(TimeInterval(lifetimes.accessToken)))
        let response = try request.issuer(engine).response(for: grant, user: nil, scopes: scopes, refreshToken: nil)
        return .issued(response, Writes([.put(grant.record)]), rule: evaluation.explanation, userID: nil)
    }
}
