import Foundation
import JOSE
import TestSupport

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire

/// A client with a DPoP key. It sends proofs with its requests to an engine.
struct ProvingClient {
    let organization: TestOrganization
    let maker: ProofMaker
    /// The engine of the requests. It can be another one over the organization's store.
    var engine: Engine

    init(_ organization: TestOrganization) throws {
        self.organization = organization
        engine = organization.engine
        maker = try ProofMaker()
    }

    /// Returns an organization with a confidential app that uses refresh tokens, and an app whose tokens must be sender-constrained.
    static func organization(_ change: @Sendable (inout OrganizationDefinition) -> Void = { _ in }) async throws -> TestOrganization {
        try await TestOrganization { definition in
            for (id, secret, isBound) in [("web-app", "web-app-secret-0123", false), ("bound-app", nil, true)] {
                definition.applications.append(
                    Application(
                        id: id, name: id, kind: secret == nil ? .native : .web, authentication: secret == nil ? .none : .clientSecretPost,
                        secret: secret, grantTypes: ["password", "refresh_token"], assignment: .init(everyone: true),
                        signOnPolicy: "one factor", dpopBoundAccessTokens: isBound))
            }
            change(&definition)
        }
    }

    static let url = TestOrganization.tokenURL("default")

    func nonce(at seconds: TimeInterval = 0) -> String {
        let nonce = try? engine.proofs.possession(
            DPoPProof(verifying: maker.proof("POST", Self.url, at: TestOrganization.time(seconds))), nonceIsDemanded: false,
            now: TestOrganization.time(seconds)
        ).nextNonce
        return nonce ?? ""
    }

    /// Returns a proof for the token endpoint, by default with the current nonce. A `nonce` of `nil` makes a proof without one.
    func proof(at seconds: TimeInterval = 0, nonce: String?? = .none, changing claims: [String: JSONValue?] = [:]) throws -> PresentedProof
    {
        let text = try maker.proof(
            "POST", Self.url, at: TestOrganization.time(seconds), nonce: nonce ?? self.nonce(at: seconds), changing: claims)
        return PresentedProof(values: [text], method: "POST", url: Self.url)
    }

    func token(
        _ parameters: [String: String], proof: PresentedProof?, client: ClientCredentials? = nil, at seconds: TimeInterval = 0
    ) async throws -> Result<TokenResponse, Refusal> {
        let client =
            client
            ?? ClientCredentials(clientID: parameters["client_id"], secret: parameters["client_secret"], endpoint: Self.url)
        return try await engine.token(
            TokenRequest(server: "default", client: client, parameters: parameters, proof: proof),
            context: TestOrganization.context(TestOrganization.time(seconds)))
    }

    func signIn(
        _ client: String = "password-app", proof: PresentedProof?, at seconds: TimeInterval = 0, scope: String = "openid offline_access"
    ) async throws -> Result<TokenResponse, Refusal> {
        try await token(
            [
                "grant_type": "password", "client_id": client, "username": TestOrganization.jane,
                "password": TestOrganization.janesPassword, "scope": scope,
            ].merging(client == "web-app" ? ["client_secret": "web-app-secret-0123"] : [:]) { $1 }, proof: proof, at: seconds)
    }

    func refresh(
        _ token: String?, client: String = "password-app", proof: PresentedProof?, at seconds: TimeInterval = 1
    ) async throws -> Result<TokenResponse, Refusal> {
        try await self.token(
            ["grant_type": "refresh_token", "client_id": client, "refresh_token": token ?? ""].merging(
                client == "web-app" ? ["client_secret": "web-app-secret-0123"] : [:]
            ) { $1 }, proof: proof, at: seconds)
    }

    static let userInfoURL = TestOrganization.origin + "/oauth2/default/v1/userinfo"

    func userInfo(
        _ token: String, proof: String?, at seconds: TimeInterval = 1
    ) async throws -> Result<[String: JSONValue], Refusal> {
        try await engine.userInfo(
            accessToken: token, proof: proof.map { PresentedProof(values: [$0], method: "GET", url: Self.userInfoURL) },
            server: "default", context: TestOrganization.context(TestOrganization.time(seconds)))
    }

    /// Returns a proof for a resource request with an access token.
    func proof(
        of token: String, at seconds: TimeInterval = 1, nonce: String? = nil, changing claims: [String: JSONValue?] = [:]
    ) throws -> String {
        try maker.proof(
            "GET", Self.userInfoURL, at: TestOrganization.time(seconds), nonce: nonce, accessToken: token, changing: claims)
    }
}
