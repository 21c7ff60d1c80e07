import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Parameters of authorization requests (Documentation/Protocol/OAuth.md §2.3)")
struct RequestParametersTests {
    private static let api = [("Content-Type", "application/json")]

    @Test(
        "The authorize and token endpoints ignore parameters that the server does not support",
        arguments: [
            ["idp": "0oa1", "idp_scope": "email"], ["display": "popup", "claims_locales": "de"], ["interclient_token": "x"],
            ["client_secret": "not-looked-at"], ["enroll_amr_values": "pwd sms"], ["resource": "https://api.example.com", "x": "y"],
        ])
    func ignored(parameters: [String: String]) async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            let code = try app.code(try await browser.signIn(try await app.begin(browser, parameters)))
            let tokens = try await app.exchange(code, server.wire, parameters.filter { $0.key != "client_secret" })
            #expect(tokens.status == 200, "\(tokens.body)")
        }
    }

    @Test(
        "Unsupported response types, response modes, prompts and request objects are reported to the client",
        arguments: [
            (["response_type": "none", "prompt": "enroll_authenticator"], "unsupported_response_type"),
            (["prompt": "enroll_authenticator"], "invalid_request"), (["response_type": "id_token"], "unsupported_response_type"),
            (["response_type": "id_token token"], "unsupported_response_type"),
            (["response_type": "token code"], "unsupported_response_type"), (["response_mode": "web_message"], "unsupported_response_mode"),
            (["response_mode": "query.jwt"], "unsupported_response_mode"), (["request": "a.b.c", "scope": ""], "request_not_supported"),
        ])
    func refused(changes: [String: String], error: String) async throws {
        let server = try await PushServer.refusing().server
        let app = WireRelyingParty.readingApp
        let response = try await server.wire.get(app.authorizeURL(changes))
        #expect(response.status == 302)
        #expect(try app.error(response) == error)
    }

    @Test(
        "For prompt=login consent, in either order, the page asks for password and consent, and for prompt=consent only for consent",
        arguments: [
            ("login consent", true), ("consent login", true), ("consent", false),
        ])
    func prompts(prompt: String, asksForPassword: Bool) async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.webApp
            let browser = WireBrowser(server.wire)
            _ = try app.code(try await browser.signIn(try await app.begin(browser)))
            var page = try await app.begin(browser, ["prompt": prompt])
            #expect(page.body.contains("current-password") == asksForPassword)
            if asksForPassword { page = try await browser.signIn(page) }
            #expect(page.body.contains("Web app asks to:"))
            _ = try app.code(try await browser.submit(page, "consent", ["answer": "allow"]))
        }
    }

    @Test("An authorization request without a scope gets the default scopes, and a state and a nonce of the maximum length are returned")
    func defaults() async throws {
        try await PushServer.with { server in
            var definition = PushOrganization().definition(origin: RunningServer.origin)
            let index = try #require(definition.authorizationServers.firstIndex { $0.id == "default" })
            definition.authorizationServers[index].scopes.append(ScopeDefinition(name: "notes.read", isDefault: true))
            _ = try await server.engine.apply(definition, context: .init(now: server.clock.now, requestID: "test"))
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            let state = String(repeating: "s", count: 2_048)
            let answer = try await browser.signIn(try await app.begin(browser, ["scope": "", "state": state]))
            let parameters = try app.answer(answer)
            #expect(parameters["state"] == state)
            let tokens = try await app.exchange(try #require(parameters["code"]), server.wire).json
            #expect(tokens["scope"] == "notes.read")
            #expect(tokens["id_token"] == nil)
            let nonce = String(repeating: "n", count: 512)
            let code = try app.code(try await browser.get(app.authorizeURL(["nonce": nonce])))
            let second = try await IssuedTokens(try await app.exchange(code, server.wire), keysFrom: app.base, server.wire)
            #expect(second.idToken["nonce"] == .string(nonce))
        }
    }

    @Test(
        "An authorization request without a nonce gets an ID token without a nonce, and login_hint fills in a user name that the user can change"
    )
    func optional() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            let page = try await app.begin(browser, ["nonce": "", "login_hint": PushOrganization.john])
            #expect(page.body.contains("value=\"\(PushOrganization.john)\""))
            let code = try app.code(try await browser.signIn(page))
            let tokens = try await IssuedTokens(try await app.exchange(code, server.wire), keysFrom: app.base, server.wire)
            #expect(tokens.idToken["nonce"] == nil)
            #expect(tokens.accessToken["sub"] == .string(PushOrganization.jane))
        }
    }

    @Test("For response_mode=form_post, errors are posted as a form, even after the user cancels")
    func formPostError() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.webApp
            let refused = try await server.wire.get(app.authorizeURL(["response_mode": "form_post", "prompt": "none"]))
            let browser = WireBrowser(server.wire)
            let cancelled = try await browser.submit(try await app.begin(browser, ["response_mode": "form_post"]), "cancel")
            for (page, error) in [(refused, "login_required"), (cancelled, "access_denied")] {
                #expect(page.status == 200)
                #expect(page["Location"] == nil)
                #expect(page.body.contains(#"action="https://web.example.com/callback""#))
                #expect(page.body.contains("name=\"error\" value=\"\(error)\""))
                #expect(page.body.contains(#"name="state" value="some-state""#))
                #expect(page.body.contains(#"name="iss" value="https://id.example.com/oauth2/default""#))
                #expect(!page.body.contains(#"name="code""#))
            }
        }
    }

    @Test("Authorization responses with a code or an error forbid caching and suppress the Referer header")
    func headers() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            let answer = try await browser.signIn(try await app.begin(browser))
            _ = try app.code(answer)
            for response in [answer, try await browser.get(app.authorizeURL(["prompt": "none"]))] {
                #expect(response["Cache-Control"] == "no-cache, no-store")
                #expect(response["Referrer-Policy"] == "no-referrer")
            }
        }
    }

    @Test("If an address exceeds its request limit, the authorize and PAR endpoints respond with 429 and an API error", .onOneServer)
    func limits() async throws {
        var organization = PushOrganization()
        organization.rateLimits.perAddress = 2
        try await PushServer.with(organization) { server in
            let app = WireRelyingParty.readingApp
            for _ in 1...2 { #expect(try await server.wire.get(app.authorizeURL(["prompt": "none"])).status == 302) }
            let link = try await server.wire.get(app.authorizeURL(["prompt": "none"]))
            let pushed = try await server.wire.post("\(app.base)/par", Form.encode(app.parameters()))
            for response in [link, pushed] {
                #expect(response.status == 429)
                try expectAPIError(response, code: "E0000047", summary: "Too many requests. Wait and try again.")
            }
        }
    }
}

@Suite("Authorization codes at the token endpoint (Documentation/Protocol/OAuth.md §2.4.1)")
struct CodeRequestTests {
    @Test(
        "Each invalid code exchange returns its documented status and error code",
        arguments: [
            (["code": ""], 400, "invalid_request"), (["grant_type": ""], 400, "invalid_request"),
            (["client_id": "unknown"], 401, "invalid_client"), (["client_id": ""], 401, "invalid_client"),
            (["client_id": "no-code-app"], 400, "unauthorized_client"), (["client_id": "closed-app"], 401, "invalid_client"),
            (["code": "ac_unknown"], 400, "invalid_grant"), (["grant_type": "code"], 400, "unsupported_grant_type"),
        ])
    func refused(changes: [String: String], status: Int, error: String) async throws {
        let server = try await PushServer.refusing().server
        try expectRefusal(try await WireRelyingParty.readingApp.exchange("ac_some", server.wire, changes), status, error)
    }

    @Test(
        "A code exchange with a repeated code or code_verifier parameter is rejected and does not consume the code",
        arguments: ["code", "code_verifier"])
    func twice(name: String) async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            let code = try app.code(try await browser.signIn(try await app.begin(browser)))
            let form = Form.encode([
                "client_id": app.id, "grant_type": "authorization_code", "code": code, "redirect_uri": app.redirectURI,
                "code_verifier": WireRelyingParty.verifier,
            ])
            let value = name == "code" ? code : WireRelyingParty.verifier
            try expectRefusal(try await server.wire.post("\(app.base)/token", "\(form)&\(name)=\(value)"), 400, "invalid_request")
            #expect(try await app.exchange(code, server.wire).status == 200)
        }
    }

    @Test("Parameters that official clients send beside the code, such as scope and nonce, do not change the tokens")
    func superfluous() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            let code = try app.code(try await browser.signIn(try await app.begin(browser)))
            let tokens = try await app.exchange(
                code, server.wire,
                ["scope": "openid email phone", "state": "x", "nonce": "other", "code_challenge": "y", "login_hint": "z", "max_age": "1"])
            #expect(tokens.status == 200)
            #expect(try tokens.json["scope"] == "openid")
            let verified = try await IssuedTokens(tokens, keysFrom: app.base, server.wire)
            #expect(verified.idToken["nonce"] == "some-nonce")
        }
    }
}
