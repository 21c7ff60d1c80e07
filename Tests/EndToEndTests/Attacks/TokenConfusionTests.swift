import AuthFoundation
import CountersignSandbox
import Foundation
import ResourceServer
import Testing

/// Tokens of the server, presented where another type of token is expected.
@Suite("Attacks: an ID token of the server as an access token")
struct ServerTokenConfusionTests {
    @Test("An API rejects an ID token, even if the API's audience is the client ID")
    func idTokenAtAnAPI() async throws {
        try await withSandbox { sandbox in
            let token = try await sandbox.signIn()
            let idToken = try #require(token.idToken?.rawValue)
            let issuer = sandbox.issuer.absoluteString
            for audience in ["password-app", "api://default"] {
                let verifier = AccessTokenVerifier(
                    .init(issuer: issuer, audience: audience), now: { sandbox.clock.now })
                await #expect(throws: AccessTokenError.self) { try await verifier.verify(idToken) }
            }
            let api = AccessTokenVerifier(.init(issuer: issuer, clientID: "password-app"), now: { sandbox.clock.now })
            #expect(try await api.verify(token.accessToken).clientID == "password-app")
        }
    }
}
