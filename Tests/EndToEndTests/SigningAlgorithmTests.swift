import AuthFoundation
import AuthorizationServer
import CountersignSandbox
import Foundation
import JOSE
import ResourceServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests each algorithm that the org file accepts: the server's metadata, the client and a resource server.
@Suite("Signing algorithms")
struct SigningAlgorithmTests {
    @Test(
        "Each signing algorithm is announced in the metadata, and the client and a resource server accept the tokens signed with the algorithm",
        arguments: ["RS256", "ES256"], ["RS256", "ES256"])
    func endToEnd(idToken: String, accessToken: String) async throws {
        let text = OrgFile.sandboxDefault
            .replacing("- id: password-app\n", with: "- id: password-app\n    id_token_algorithm: \(idToken)\n")
            .replacing("audience: api://default\n", with: "audience: api://default\n    access_token_algorithm: \(accessToken)\n")
        try await withSandbox(.init(organization: text)) { sandbox in
            let client = sandbox.client(by: .port)
            let token = try await sandbox.signIn(with: client)
            let signed = try #require(token.idToken)
            #expect(signed.header.algorithm.rawValue == idToken)
            #expect(try signed.validate(using: try await client.jwks()))
            let again = try await client.refresh(token)
            #expect(again.idToken?.header.algorithm.rawValue == idToken)

            #expect(try JSONWebSignature(parsing: token.accessToken).algorithm.rawValue == accessToken)
            let verifier = AccessTokenVerifier(.init(issuer: sandbox.issuer.absoluteString), now: { sandbox.clock.now })
            #expect(try await verifier.verify(token.accessToken).subject == "jane.doe@example.com")

            let metadata = try await PlainHTTP.data(
                for: URLRequest(url: sandbox.issuer.appending(path: ".well-known/openid-configuration")))
            let announced = try JSONValue(parsing: metadata.0)["id_token_signing_alg_values_supported"]
            #expect(announced == (idToken == "RS256" ? ["RS256"] : ["RS256", "ES256"]))
        }
    }
}
