import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Authorization code flow")
struct CodeFlowTests {
    @Test("A sign-in with a password on the hosted page yields an authorization code, which the client exchanges for tokens")
    func password() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            let page = try await app.begin(browser, ["scope": "openid offline_access"])
            #expect(page.status == 200)
            #expect(page["Content-Type"] == "text/html; charset=utf-8")
            #expect(page.body.contains("Sign in to continue to Reading app."))
            server.clock.advance(by: 5)
            let code = try app.code(try await browser.signIn(page))
            let tokens = try await IssuedTokens(try await app.exchange(code, server.wire), keysFrom: app.base, server.wire)
            #expect(tokens.idToken["nonce"] == "some-nonce")
            #expect(tokens.idToken["amr"] == ["pwd"])
            #expect(tokens.idToken["aud"] == "reading-app")
            #expect(tokens.idToken["auth_time"] == .integer(Int64(server.clock.now.timeIntervalSince1970) - 1))
            #expect(tokens.body["refresh_token"]?.stringValue != nil)
            #expect(tokens.accessToken["scp"] == ["openid", "offline_access"])
        }
    }

    @Test("The sign-in page waits for the push of the second factor, and yields an authorization code after the user approves the push")
    func push() async throws {
        try await PushServer.with(PushOrganization(numberChallenge: .always)) { server in
            let phone = try await server.enroll(.init(answersNumbers: true))
            let app = WireRelyingParty.browserApp
            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await app.begin(browser))
            #expect(choice.body.contains("Browser app asks for a second factor."))
            let waiting = try await browser.submit(choice, "factor", ["factor": "push"])
            #expect(waiting.body.contains(#"<meta http-equiv="refresh" content="3">"#))
            let number = try #require(waiting.body.firstMatch(of: /<p class="number">([0-9]{2})</)?.1)
            let address = try WireBrowser.form(waiting, "cancel").action.replacing("/cancel", with: "")
            #expect(try await browser.get(address).body.contains("Choose this number"))
            server.clock.advance(by: 7)
            try await phone.approve(.pick(String(number)))
            let code = try app.code(try await browser.get(address))
            let tokens = try await IssuedTokens(try await app.exchange(code, server.wire), keysFrom: app.base, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd", "okta_verify", "swk", "mfa"])
        }
    }

    @Test("A confidential client that opted out of PKCE can exchange its code with its client secret at the org authorization server")
    func confidential() async throws {
        try await PushServer.with { server in
            var app = WireRelyingParty.legacyApp
            app.base = "/oauth2/v1"
            let browser = WireBrowser(server.wire)
            let page = try await app.begin(browser, ["code_challenge": "", "code_challenge_method": ""])
            let code = try app.code(try await browser.signIn(page))
            let response = try await app.exchange(code, server.wire, ["code_verifier": ""])
            #expect(try await IssuedTokens(response, keysFrom: app.base, server.wire).idToken["aud"] == "legacy-app")
        }
    }
}
