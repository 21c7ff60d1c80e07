import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Logout endpoint")
struct LogoutTests {
    /// A browser with a signed-in user, and the tokens that the app received.
    struct SignedIn {
        let browser: WireBrowser
        let idToken: String
        let tokens: IssuedTokens

        init(
            _ server: PushServer, _ app: WireRelyingParty = .readingApp, in browser: WireBrowser? = nil,
            _ login: String = PushOrganization.jane, _ password: String = PushOrganization.janesPassword
        ) async throws {
            let browser = browser ?? WireBrowser(server.wire)
            let page = try await app.begin(browser, ["scope": "openid offline_access"])
            let code = try app.code(try await browser.signIn(page, login, password))
            let response = try await app.exchange(code, server.wire)
            tokens = try await IssuedTokens(response, keysFrom: app.base, server.wire)
            idToken = try #require(tokens.body["id_token"]?.stringValue)
            self.browser = browser
        }

        /// Whether the browser still has a session: an app gets a code with `prompt=none`.
        func isSignedIn() async throws -> Bool {
            let app = WireRelyingParty.readingApp
            return try app.answer(try await browser.get(app.authorizeURL(["prompt": "none"])))["code"] != nil
        }
    }

    static let bye = "https://reading.example.com/bye?from=id"

    static func url(_ parameters: [String: String], base: String = "/oauth2/default/v1") -> String {
        "\(base)/logout?" + Form.encode(parameters)
    }

    @Test("A logout request with an ID token hint ends the session, redirects with the request's state and keeps tokens valid")
    func hint() async throws {
        try await PushServer.with { server in
            let signedIn = try await SignedIn(server)
            #expect(try await signedIn.isSignedIn())
            let session = try #require(signedIn.browser.cookies["session"])
            let answer = try await signedIn.browser.get(
                Self.url(["id_token_hint": signedIn.idToken, "post_logout_redirect_uri": Self.bye, "state": "a b&c"]))
            #expect(answer.status == 303)
            #expect(answer["Location"] == Self.bye + "&state=a%20b%26c")
            #expect(answer["Cache-Control"] == "no-cache, no-store")
            #expect(signedIn.browser.setCookies.last == "__Host-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure")
            // The server rejects the session secret, which was not only removed from this browser.
            signedIn.browser.cookies["session"] = session
            #expect(try await !signedIn.isSignedIn())
            // Tokens are not revoked.
            let refreshed = try await server.wire.post(
                "/oauth2/default/v1/token",
                Form.encode([
                    "client_id": "reading-app", "grant_type": "refresh_token",
                    "refresh_token": try #require(signedIn.tokens.body["refresh_token"]?.stringValue),
                ]))
            #expect(refreshed.status == 200)
            #expect(try await server.logged("user.session.end") == 1)
        }
    }

    @Test("A logout POST with an expired ID token hint ends a session that is still active")
    func expiredHint() async throws {
        try await PushServer.with { server in
            let signedIn = try await SignedIn(server)
            server.clock.advance(by: 3_700)
            let answer = try await signedIn.browser.post(
                "/oauth2/default/v1/logout", ["id_token_hint": signedIn.idToken, "client_id": "reading-app"])
            #expect(answer.status == 200)
            #expect(answer.body.contains("<h1>You are signed out</h1>"))
            #expect(try await !signedIn.isSignedIn())
        }
    }

    @Test("A cross-site logout form without cookies ends the session of its ID token hint")
    func crossSiteForm() async throws {
        try await PushServer.with { server in
            let signedIn = try await SignedIn(server)
            let sid = try #require(signedIn.tokens.idToken["sid"]?.stringValue)
            #expect(sid.hasPrefix("ses"))
            let stranger = WireBrowser(server.wire)
            let form = ["id_token_hint": signedIn.idToken, "post_logout_redirect_uri": Self.bye]
            #expect(try await stranger.post("/oauth2/default/v1/logout", form).status == 303)
            #expect(try await !signedIn.isSignedIn())
        }
    }

    @Test("Without an ID token hint, only the confirmation form with a form token of the same browser ends the session")
    func confirmation() async throws {
        try await PushServer.with { server in
            let signedIn = try await SignedIn(server)
            let page = try await signedIn.browser.get(
                Self.url(["client_id": "reading-app", "post_logout_redirect_uri": Self.bye, "state": "s-1"]))
            #expect(page.status == 200)
            #expect(page.body.contains("Reading app wants to sign you out in this browser."))
            #expect(page["Content-Security-Policy"]?.contains("form-action 'self' https://reading.example.com;") == true)
            #expect(try await signedIn.isSignedIn())
            let form = try WireBrowser.form(page, "logout")
            for token in ["", "x", String((form.fields["form_token"] ?? "").reversed())] {
                let forged = try await signedIn.browser.post(form.action, form.fields.merging(["form_token": token]) { $1 })
                #expect(forged.status == (token.isEmpty ? 200 : 403))
                #expect(try await signedIn.isSignedIn())
            }
            // This is the form token of another browser. An attacker can get such a token for the attacker's own session.
            let other = try await SignedIn(server, .readingApp, PushOrganization.john, PushOrganization.johnsPassword)
            let theirs = try WireBrowser.form(try await other.browser.get(Self.url(["client_id": "reading-app"])), "logout")
            #expect(try await signedIn.browser.post(form.action, theirs.fields).status == 403)
            #expect(try await signedIn.isSignedIn())

            let answer = try await signedIn.browser.post(form.action, form.fields)
            #expect(answer.status == 303)
            #expect(answer["Location"] == Self.bye + "&state=s-1")
            #expect(try await !signedIn.isSignedIn())
            // A repeated submission, for example after the back button, has the same response.
            #expect(try await signedIn.browser.post(form.action, form.fields).status == 303)
            #expect(try await other.isSignedIn())
        }
    }

    @Test("Another user's ID token hint leads to a confirmation page and ends no session")
    func otherPerson() async throws {
        try await PushServer.with { server in
            let jane = try await SignedIn(server)
            let john = try await SignedIn(server, .readingApp, PushOrganization.john, PushOrganization.johnsPassword)
            let page = try await jane.browser.get(Self.url(["id_token_hint": john.idToken, "post_logout_redirect_uri": Self.bye]))
            #expect(page.status == 200)
            _ = try WireBrowser.form(page, "logout")
            #expect(try await jane.isSignedIn())
            #expect(try await john.isSignedIn())
        }
    }

    @Test("An ID token hint of the user's other browser leads to a confirmation page and ends neither session")
    func otherBrowser() async throws {
        try await PushServer.with { server in
            let first = try await SignedIn(server)
            let second = try await SignedIn(server)
            let page = try await first.browser.get(Self.url(["id_token_hint": second.idToken, "post_logout_redirect_uri": Self.bye]))
            #expect(page.status == 200)
            let form = try WireBrowser.form(page, "logout")
            #expect(try await first.isSignedIn())
            #expect(try await second.isSignedIn())
            #expect(try await first.browser.post(form.action, form.fields).status == 303)
            #expect(try await !first.isSignedIn())
        }
    }

    @Test("A cross-site logout form without an ID token hint is redirected to the confirmation page and ends no session")
    func crossSiteFormWithoutHint() async throws {
        try await PushServer.with { server in
            let signedIn = try await SignedIn(server)
            let cookies = signedIn.browser.cookies
            signedIn.browser.cookies = [:]
            let sent = try await signedIn.browser.post(
                "/oauth2/default/v1/logout", ["client_id": "reading-app", "post_logout_redirect_uri": Self.bye, "state": "x&y"])
            #expect(sent.status == 303)
            let location = try #require(sent["Location"])
            #expect(location.hasPrefix("/oauth2/default/v1/logout?client_id=reading-app&"))
            #expect(location.hasSuffix("&state=x%26y"))
            signedIn.browser.cookies = cookies
            #expect(try await signedIn.browser.get(location).body.contains("name=\"form_token\""))
            #expect(try await signedIn.isSignedIn())
        }
    }

    @Test("If the browser has no session, logout redirects to the client's URI or shows the signed-out page in the browser's language")
    func unknownUser() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            let back = try await browser.get(Self.url(["client_id": "web-app", "post_logout_redirect_uri": "https://web.example.com/bye"]))
            #expect(back["Location"] == "https://web.example.com/bye")
            let page = try await browser.get(Self.url([:], base: "/oauth2/v1"))
            #expect(page.status == 200)
            #expect(page.body.contains("<h1>You are signed out</h1>"))
            browser.headers = [("Accept-Language", "de-CH, en;q=0.5")]
            #expect(try await browser.get(Self.url([:])).body.contains("<h1>Sie sind abgemeldet</h1>"))
        }
    }

    @Test(
        "An invalid logout request shows an error page, redirects nowhere and ends no session",
        arguments: [
            ["client_id": "unknown"],
            ["post_logout_redirect_uri": bye],
            ["client_id": "reading-app", "post_logout_redirect_uri": "https://reading.example.com/bye"],
            ["client_id": "reading-app", "post_logout_redirect_uri": "https://reading.example.com/bye?from=id&to=evil"],
            ["client_id": "reading-app", "post_logout_redirect_uri": "https://READING.example.com/bye?from=id"],
            ["client_id": "reading-app", "post_logout_redirect_uri": "https://evil.example.com/"],
            ["client_id": "reading-app", "post_logout_redirect_uri": "//evil.example.com/"],
            ["client_id": "web-app", "post_logout_redirect_uri": bye],
            ["id_token_hint": "TOKEN", "client_id": "web-app"],
            ["id_token_hint": "TOKEN", "post_logout_redirect_uri": "https://web.example.com/bye"],
            ["id_token_hint": "ACCESS"],
            ["id_token_hint": "FORGED"],
            ["id_token_hint": "not.a.token"],
            ["id_token_hint": "OTHER"],
            ["id_token_hint": "TOKEN", "post_logout_redirect_uri": bye, "state": "line\nbreak"],
            ["id_token_hint": "TOKEN", "post_logout_redirect_uri": bye, "state": String(repeating: "s", count: 2_049)],
        ])
    func refused(parameters: [String: String]) async throws {
        try await PushServer.with { server in
            let signedIn = try await SignedIn(server)
            var base = "/oauth2/default/v1"
            var sent = parameters
            switch parameters["id_token_hint"] {
            case "TOKEN"?: sent["id_token_hint"] = signedIn.idToken
            case "ACCESS"?: sent["id_token_hint"] = signedIn.tokens.body["access_token"]?.stringValue
            case "FORGED"?: sent["id_token_hint"] = String(signedIn.idToken.dropLast(8)) + "AAAAAAAA"
            case "OTHER"?:
                // An ID token of one issuer is not a valid hint for another issuer.
                sent["id_token_hint"] = signedIn.idToken
                base = "/oauth2/v1"
            default: break
            }
            let answer = try await signedIn.browser.get(Self.url(sent, base: base))
            #expect(answer.status == 400)
            #expect(answer["Location"] == nil)
            #expect(answer["Content-Type"] == "text/html; charset=utf-8")
            #expect(answer.body.contains("<h1>Something went wrong</h1>"))
            #expect(try await signedIn.isSignedIn())
        }
    }

    @Test("Logout rejects repeated parameters, JSON bodies and PUT requests, and a HEAD request ends no session")
    func shapes() async throws {
        try await PushServer.with { server in
            let signedIn = try await SignedIn(server)
            let url = Self.url(["id_token_hint": signedIn.idToken])
            #expect(try await signedIn.browser.get(url + "&state=a&state=b").status == 400)
            let cookie = ("Cookie", "__Host-session=\(signedIn.browser.cookies["session"] ?? "")")
            #expect(try await server.wire.call("HEAD", url, headers: [cookie]).status == 200)
            #expect(try await server.wire.call("PUT", url, headers: [cookie]).status == 405)
            let json = try await server.wire.call(
                "POST", "/oauth2/default/v1/logout", headers: [cookie, ("Content-Type", "application/json")], body: Array("{}".utf8))
            #expect(json.status == 400)
            #expect(try await signedIn.isSignedIn())
        }
    }

    @Test(
        "Logout requests do not count against the client's rate limit, and an address that exceeds its own limit gets a 429 page",
        .onOneServer)
    func limits() async throws {
        var organization = PushOrganization()
        organization.rateLimits.perClient = 1
        organization.rateLimits.perAddress = 4
        try await PushServer.with(organization) { server in
            for _ in 1...3 {
                #expect(try await server.wire.get(Self.url(["client_id": "reading-app", "logout_hint": "jane"])).status == 200)
            }
            // The client's limit of one request is still unused.
            try expectRefusal(try await WireRelyingParty.readingApp.exchange("ac_some", server.wire), 400, "invalid_grant")
            let over = try await server.wire.get(Self.url(["client_id": "reading-app"]))
            #expect(over.status == 429)
            #expect(over["Content-Type"] == "text/html; charset=utf-8")
        }
    }

    @Test("An authorization code that was not exchanged before logout is rejected")
    func unusedCode() async throws {
        try await PushServer.with { server in
            let signedIn = try await SignedIn(server)
            let app = WireRelyingParty.readingApp
            let code = try app.code(try await signedIn.browser.get(app.authorizeURL(["prompt": "none"])))
            #expect(try await signedIn.browser.get(Self.url(["id_token_hint": signedIn.idToken])).status == 200)
            try expectRefusal(try await app.exchange(code, server.wire), 400, "invalid_grant")
        }
    }
}
