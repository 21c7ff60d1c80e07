import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import OAuth2Auth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Browser sign-in with DPoP")
struct BoundSignInTests {
    @Test(
        "With DPoP, the authorization request has the key's thumbprint, and the code exchange with a proof is retried with a nonce",
        arguments: [false, true])
    func signIn(isPushed: Bool) async throws {
        let issuer = ScriptedIssuer(isPushed ? ["pushed_authorization_request_endpoint": .string("\(ScriptedIssuer.base)/v1/par")] : [:])
        issuer.answer("/v1/par", .json(#"{"request_uri":"urn:1","expires_in":60}"#))
        var configuration = try issuer.client().configuration
        configuration.usesDPoP = true
        let keys = MemoryDPoPKeyStorage()
        let flow = try AuthorizationCodeFlow(
            client: OAuth2Client(configuration, session: issuer, clock: issuer.clock, dpopKeys: keys))
        let url = try await flow.start()
        let context = try #require(flow.context)
        let idToken = try issuer.idToken(["nonce": context.nonce.map(JSONValue.string)])
        issuer.answer(
            "/v1/token", .init(status: 400, headers: ["DPoP-Nonce": "n-1"], body: #"{"error":"use_dpop_nonce"}"#),
            .tokens(["id_token": idToken, "token_type": "DPoP"]))
        let token = try await flow.resume(with: TestSupport.url("com.example.app:/callback?code=c&state=\(context.state)"))
        let proofs = try issuer.requests("/v1/token").map { try #require($0.value(forHTTPHeaderField: "DPoP")) }
        #expect(proofs.count == 2 && proofs[0] != proofs[1] && token.tokenType == "DPoP")
        #expect(issuer.forms("/v1/token").allSatisfy { $0["code"] == "c" })
        let announced = isPushed ? issuer.forms("/v1/par").first?["dpop_jkt"] : Form.query(url)["dpop_jkt"]
        let header = try #require(proofs.last?.split(separator: ".").first)
        let jwk = try #require(try JSONValue(parsing: Base64URL.decode(header))["jwk"])
        #expect(try JSONWebKey(parsing: jwk.serialized()).thumbprint == announced)
    }

    @Test("If a sign-in with DPoP receives unbound tokens, the client rejects and revokes the tokens", .timeLimit(.minutes(1)))
    func downgrade() async throws {
        let issuer = ScriptedIssuer()
        var configuration = try issuer.client(scope: "profile").configuration
        configuration.usesDPoP = true
        let client = OAuth2Client(configuration, session: issuer, clock: issuer.clock, dpopKeys: MemoryDPoPKeyStorage())
        issuer.answer("/v1/token", .tokens())
        let error = await #expect(throws: DPoPError.self) { try await client.resourceOwnerFlow().start(username: "jane", password: "x") }
        #expect(error?.code == .downgraded)
        await issuer.awaits("/v1/revoke", 2)
        #expect(Set(issuer.forms("/v1/revoke").compactMap { $0["token"] }) == ["access-1", "refresh-1"])
    }
}
