import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import OAuth2Auth

@Suite("A browser sign-in that answers a step-up challenge (RFC 9470)")
struct StepUpSignInTests {
    private let issuer = ScriptedIssuer()

    private func signIn(_ context: AuthorizationCodeFlow.Context, claims: [String: JSONValue?] = [:]) async throws -> Token {
        let flow = try AuthorizationCodeFlow(client: issuer.client())
        _ = try await flow.start(with: context)
        let started = try #require(flow.context)
        let nonce = started.nonce.map(JSONValue.string)
        issuer.on("/v1/token") { [issuer] _, _ in
            .tokens(["id_token": try issuer.idToken(claims.merging(["nonce": nonce]) { own, _ in own })])
        }
        return try await flow.resume(with: url("com.example.app:/callback?code=c&state=\(started.state)"))
    }

    @Test("The authorization request of a step-up has acr_values, max_age and the ID token as id_token_hint, and the client's own scopes")
    func request() async throws {
        let former = try await signIn(.init())
        let challenge = StepUpChallenge(acrValues: ["phr", "phrh"], maxAge: 300, scope: ["payments"])
        let flow = try AuthorizationCodeFlow(client: issuer.client())
        let query = Form.query(try await flow.start(with: .init(steppingUp: challenge, from: former)))
        #expect(query["acr_values"] == "phr phrh" && query["max_age"] == "300" && query["scope"] == "openid profile")
        #expect(query["id_token_hint"] == former.idToken?.rawValue && query["prompt"] == nil)
    }

    @Test("The authorization request for a challenge without acr_values and max_age asks for the credentials again")
    func bare() async throws {
        let flow = try AuthorizationCodeFlow(client: issuer.client())
        let query = Form.query(try await flow.start(with: .init(steppingUp: StepUpChallenge(), from: nil)))
        #expect(query["prompt"] == "login" && query["acr_values"] == nil && query["max_age"] == nil && query["id_token_hint"] == nil)
    }

    @Test("A step-up returns the tokens of a sign-in that meets the challenge")
    func met() async throws {
        let former = try await signIn(.init())
        let token = try await signIn(.init(steppingUp: .init(acrValues: ["phr"], maxAge: 60), from: former), claims: ["acr": "phr"])
        #expect(token.idToken?.authenticationContext == "phr" && issuer.forms("/v1/revoke").isEmpty)
    }

    @Test("A step-up fails and revokes the new tokens if the server signs the user in at the same level as before")
    func unmet() async throws {
        let former = try await signIn(.init())
        await #expect(throws: StepUpError.unchanged) {
            try await signIn(.init(steppingUp: .init(acrValues: ["phr"]), from: former))
        }
        await issuer.awaits("/v1/revoke", 1)
        await #expect(throws: StepUpError.levelNotReached("pwd")) {
            try await signIn(.init(steppingUp: .init(acrValues: ["phr"]), from: former), claims: ["acr": "pwd"])
        }
        await #expect(throws: StepUpError.otherUser) {
            try await signIn(.init(steppingUp: .init(acrValues: ["phr"]), from: former), claims: ["acr": "phr", "sub": "00u2"])
        }
    }
}
