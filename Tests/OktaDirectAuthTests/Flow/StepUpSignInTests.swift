import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import OktaDirectAuth

@Suite("Direct authentication that answers a step-up challenge (RFC 9470)")
struct StepUpSignInTests {
    private let server = ScriptedIssuer.directAuthentication()
    private let challenge = StepUpChallenge(acrValues: ["urn:okta:loa:2fa:any", "phr"], maxAge: 300)

    private func tokens(_ claims: [String: JSONValue?] = [:]) throws -> ScriptedIssuer.Reply {
        .tokens(["id_token": try server.idToken(claims)])
    }

    private func former() async throws -> Token {
        let flow = try DirectAuthenticationFlow(client: server.directClient())
        server.answer("token", try tokens())
        guard case .success(let token) = try await flow.start("jane", with: .password("Correct-Horse-7")) else { throw InvalidFixture() }
        return token
    }

    @Test("A step-up requests the acr_values in each step and returns tokens that meet the challenge")
    func met() async throws {
        let former = try await former()
        let flow = try DirectAuthenticationFlow(client: server.directClient())
        server.answer("token", .mfaRequired, try tokens(["acr": "urn:okta:loa:2fa:any"]))
        _ = try await flow.start("jane", with: .password("Correct-Horse-7"), context: .init(steppingUp: challenge, from: former))
        guard case .success(let token) = try await flow.resume(with: .otp(code: "123456")) else { throw InvalidFixture() }
        #expect(token.idToken?.authenticationContext == "urn:okta:loa:2fa:any")
        for form in server.forms("token").suffix(2) {
            #expect(form["acr_values"] == "urn:okta:loa:2fa:any phr" && form["scope"] == "openid profile" && form["max_age"] == nil)
        }
    }

    @Test("A step-up ends and revokes the new tokens if they do not meet the challenge")
    func unmet() async throws {
        let former = try await former()
        let flow = try DirectAuthenticationFlow(client: server.directClient())
        server.answer("token", .mfaRequired, try tokens(["acr": "urn:okta:loa:1fa:any"]))
        _ = try await flow.start("jane", with: .password("Correct-Horse-7"), context: .init(steppingUp: challenge, from: former))
        await #expect(throws: StepUpError.levelNotReached("urn:okta:loa:1fa:any")) { try await flow.resume(with: .otp(code: "123456")) }
        #expect(!flow.isAuthenticating)
        await #expect(throws: DirectAuthenticationFlowError.flowNotStarted) { try await flow.resume(with: .otp(code: "123456")) }
        await flow.settled()
        #expect(!server.forms("/v1/revoke").isEmpty)
    }

    @Test("A step-up ends if the tokens have the same level and time as the refused tokens")
    func unchanged() async throws {
        let former = try await former()
        let flow = try DirectAuthenticationFlow(client: server.directClient())
        server.answer("token", try tokens())
        await #expect(throws: StepUpError.unchanged) {
            try await flow.start("jane", with: .password("Correct-Horse-7"), context: .init(steppingUp: challenge, from: former))
        }
        #expect(!flow.isAuthenticating)
    }
}
