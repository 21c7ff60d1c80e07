import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Request and response modes of the authorize endpoint")
struct RequestFormTests {
    /// Pushes a request with the client's authentication.
    private static func push(
        _ app: WireRelyingParty, _ wire: WireClient, _ changes: [String: String] = [:]
    ) async throws -> WireResponse {
        var headers: [(String, String)] = []
        var parameters = app.parameters(changes)
        if let secret = app.secret {
            headers = [("Authorization", "Basic " + Data("\(app.id):\(secret)".utf8).base64EncodedString())]
            parameters["client_id"] = nil
        }
        return try await wire.post("\(app.base)/par", Form.encode(parameters), headers: headers)
    }

    private static func pushed(_ app: WireRelyingParty, _ server: PushServer, _ changes: [String: String] = [:]) async throws -> String {
        let response = try await push(app, server.wire, changes)
        #expect(response.status == 201)
        expectProtocolHeaders(response)
        #expect(try response.json["expires_in"] == 300)
        return try #require(try response.json["request_uri"]?.stringValue)
    }

    private static func url(_ app: WireRelyingParty, _ uri: String, _ more: [String: String] = [:]) -> String {
        "\(app.base)/authorize?" + Form.encode(["client_id": app.id, "request_uri": uri].merging(more) { $1 })
    }

    @Test("The server uses a pushed request as it was pushed, and ignores other query parameters")
    func pushed() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.webApp
            let uri = try await Self.pushed(app, server)
            let browser = WireBrowser(server.wire)
            let beside = ["state": "evil", "scope": "openid email", "redirect_uri": "https://evil.example.com/"]
            let page = try await browser.follow(try await browser.get(Self.url(app, uri, beside)))
            let tokens = try await app.exchange(try app.code(try await browser.signIn(page)), server.wire).json
            #expect(tokens["scope"] == "openid")
        }
    }

    @Test("A pushed request is valid once, for five minutes, for its client and at its server")
    func once() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.webApp
            let uri = try await Self.pushed(app, server, ["prompt": "none"])
            var other = WireRelyingParty.readingApp
            #expect(try await server.wire.get(Self.url(other, uri)).status == 400)
            other = app
            other.base = "/oauth2/v1"
            #expect(try await server.wire.get(Self.url(other, uri)).status == 400)
            #expect(try app.error(try await server.wire.get(Self.url(app, uri))) == "login_required")
            #expect(try await server.wire.get(Self.url(app, uri)).status == 400)
            let late = try await Self.pushed(app, server)
            server.clock.advance(by: 300)
            #expect(try await server.wire.get(Self.url(app, late)).status == 400)
        }
    }

    @Test(
        "An invalid authorization request is rejected with its error as soon as the client pushes it",
        arguments: [
            (["redirect_uri": "https://evil.example.com/"], 400, "invalid_request"), (["redirect_uri": ""], 400, "invalid_request"),
            (["scope": "unknown"], 400, "invalid_scope"), (["response_type": "token"], 400, "unsupported_response_type"),
            (["response_mode": "unknown"], 400, "unsupported_response_mode"), (["request_uri": "urn:okta:par-x"], 400, "invalid_request"),
            (["request": "a.b.c"], 400, "request_not_supported"), (["state": ""], 400, "invalid_request"),
        ])
    func refused(changes: [String: String], status: Int, error: String) async throws {
        let server = try await PushServer.refusing().server
        try expectRefusal(try await Self.push(.webApp, server.wire, changes), status, error)
    }

    @Test("A pushed request with a wrong client secret or without a PKCE challenge is rejected")
    func clients() async throws {
        let server = try await PushServer.refusing().server
        var app = WireRelyingParty.webApp
        app.secret = "wrong-secret-0123456"
        try expectRefusal(try await Self.push(app, server.wire), 401, "invalid_client")
        for app in [WireRelyingParty.readingApp, .webApp] {
            try expectRefusal(
                try await Self.push(app, server.wire, ["code_challenge": "", "code_challenge_method": ""]), 400, "invalid_request")
        }
        _ = try await Self.pushed(.readingApp, server)
    }

    @Test("An authorization request by POST is redirected to a GET URL, so that the browser sends its cookies")
    func form() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            _ = try app.code(try await browser.signIn(try await app.begin(browser)))
            // The browser sends the form of another site without cookies, and the response sets none.
            let posted = try await server.wire.post("\(app.base)/authorize", Form.encode(app.parameters(["prompt": "none"])))
            #expect(posted.status == 303)
            #expect(posted["Set-Cookie"] == nil)
            let location = try #require(posted["Location"])
            #expect(location.hasPrefix("/oauth2/default/v1/authorize?client_id=reading-app&request_uri=urn%3Aokta%3Apar-"))
            _ = try app.code(try await browser.get(location))
            let wrong = try await server.wire.post("\(app.base)/authorize", Form.encode(app.parameters(["scope": ""])))
            #expect(wrong.status == 303)
            #expect(try app.error(wrong) == "invalid_scope")
        }
    }

    @Test("A session token that is posted to the authorize endpoint is valid once, at the URL that the response redirects to")
    func tokenInForm() async throws {
        try await PushServer.with { server in
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)).id
            let context = RequestContext(now: server.clock.now, requestID: "test")
            let token = try #require(try await server.engine.mintSessionToken(userID: id, context: context))
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            for isFirst in [true, false] {
                let posted = try await browser.post("\(app.base)/authorize", app.parameters(["sessionToken": token]))
                let answer = try await browser.get(try #require(posted["Location"]))
                if isFirst { _ = try app.code(answer) } else { #expect(try app.error(answer) == "login_required") }
            }
        }
    }

    @Test("Another user's session token in a link does not replace the browser's session")
    func plantedToken() async throws {
        try await PushServer.with { server in
            let jane = try #require(try await server.engine.user(login: PushOrganization.jane)).id
            let john = try #require(try await server.engine.user(login: PushOrganization.john)).id
            let context = RequestContext(now: server.clock.now, requestID: "test")
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            _ = try app.code(try await browser.signIn(try await app.begin(browser)))
            let cookies = browser.cookies
            let planted = try #require(try await server.engine.mintSessionToken(userID: john, context: context))
            #expect(try app.error(try await browser.get(app.authorizeURL(["sessionToken": planted]))) == "login_required")
            #expect(browser.cookies == cookies)
            #expect(try await server.engine.sessions(ofUser: jane, now: server.clock.now).count == 1)
            #expect(try await server.engine.sessions(ofUser: john, now: server.clock.now).isEmpty)
            // A session token of Jane herself is accepted.
            let own = try #require(try await server.engine.mintSessionToken(userID: jane, context: context))
            _ = try app.code(try await browser.get(app.authorizeURL(["sessionToken": own])))
        }
    }

    @Test("A HEAD request to the authorize endpoint does not consume a pushed request")
    func head() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.webApp
            let url = Self.url(app, try await Self.pushed(app, server))
            #expect(try await server.wire.call("HEAD", url).status == 200)
            let browser = WireBrowser(server.wire)
            _ = try app.code(try await browser.signIn(try await browser.follow(try await browser.get(url))))
        }
    }

    @Test("For response_mode=fragment, the server sends codes and errors in the fragment")
    func fragment() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.webApp
            let browser = WireBrowser(server.wire)
            let page = try await app.begin(browser, ["response_mode": "fragment"])
            let location = try #require(try await browser.signIn(page)["Location"])
            #expect(location.hasPrefix("https://web.example.com/callback#code=ac_"))
            let refused = try await server.wire.get(app.authorizeURL(["response_mode": "fragment", "prompt": "none"]))
            #expect(try #require(refused["Location"]).hasPrefix("https://web.example.com/callback#error=login_required&"))
        }
    }

    @Test("For response_mode=form_post, the browser posts the response as a form with escaped values")
    func formPost() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.webApp
            let browser = WireBrowser(server.wire)
            let state = #""><script>alert(1)</script>"#
            let page = try await browser.signIn(try await app.begin(browser, ["response_mode": "form_post", "state": state]))
            #expect(page.status == 200)
            #expect(page.body.contains(#"<form id="answer" method="post" action="https://web.example.com/callback">"#))
            #expect(page.body.contains(#"name="state" value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;""#))
            #expect(page.body.contains(#"name="iss" value="https://id.example.com/oauth2/default""#))
            #expect(
                page["Content-Security-Policy"]
                    == "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self' https://web.example.com; base-uri 'none'; frame-ancestors 'none'"
            )
            let code = try #require(page.body.firstMatch(of: /name="code" value="([^"]+)"/)?.1)
            #expect(try await app.exchange(String(code), server.wire).status == 200)
            let script = try #require(page.body.firstMatch(of: /<script src="([^"]+)"><\/script>/)?.1)
            #expect(try await server.wire.get(String(script)).body.contains("answer.submit()"))
        }
    }

    @Test("A session token signs the user in without a page, once within five minutes, if its factors meet the policy")
    func sessionToken() async throws {
        try await PushServer.with { server in
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)).id
            func token(_ isTwoFactors: Bool) async throws -> String {
                try #require(
                    try await server.engine.mintSessionToken(
                        userID: id, isTwoFactors: isTwoFactors, context: .init(now: server.clock.now, requestID: "test")))
            }
            let app = WireRelyingParty.browserApp
            let browser = WireBrowser(server.wire)
            let strong = try await token(true)
            _ = try app.code(try await browser.get(app.authorizeURL(["sessionToken": strong, "prompt": "none"])))
            #expect(browser.cookies["session"] != nil)
            _ = try WireRelyingParty.webApp.code(try await browser.get(WireRelyingParty.webApp.authorizeURL(["prompt": "none"])))
            let again = WireBrowser(server.wire)
            #expect(try app.error(try await again.get(app.authorizeURL(["sessionToken": strong]))) == "login_required")
            // The app's policy requires a second factor. To set one up, Jane must enter her password: a session token is not enough.
            let weak = try await again.follow(try await again.get(app.authorizeURL(["sessionToken": try await token(false)])))
            #expect(weak.body.contains("current-password"))
            #expect(try await again.signIn(weak).body.contains("Set up an authenticator app"))
            let late = try await token(true)
            server.clock.advance(by: 300)
            #expect(try app.error(try await again.get(app.authorizeURL(["sessionToken": late]))) == "login_required")
            let closed = try await token(true)
            _ = try await server.engine.setStatus(userID: id, to: .deactivated, context: .init(now: server.clock.now, requestID: "test"))
            #expect(try app.error(try await again.get(app.authorizeURL(["sessionToken": closed]))) == "login_required")
        }
    }

    @Test("An app that requires consent gets a code only after the user consents, and the server does not ask again for the same scopes")
    func consent() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty(
                id: "strange-app", redirectURI: "https://strange.example.com/callback", secret: "strange-app-secret-012")
            let browser = WireBrowser(server.wire)
            let page = try await browser.signIn(try await app.begin(browser, ["scope": "openid email"]))
            #expect(page.body.contains("<p>Strange &lt;app&gt; asks to:</p>"))
            #expect(page.body.contains("<li>See your email address</li>"))
            #expect(browser.cookies["session"] == nil)
            #expect(try app.error(try await browser.submit(page, "consent", ["answer": "deny"])) == "access_denied")
            let again = try await browser.signIn(try await app.begin(browser, ["scope": "openid email"]))
            _ = try app.code(try await browser.submit(again, "consent", ["answer": "allow"]))
            // The user is asked again only for more scopes, or if the app requests it.
            _ = try app.code(try await browser.get(app.authorizeURL(["scope": "openid email"])))
            _ = try app.code(try await browser.get(app.authorizeURL(["scope": "email openid", "prompt": "none"])))
            let more = app.authorizeURL(["scope": "openid email phone", "prompt": "none"])
            #expect(try app.error(try await browser.get(more)) == "consent_required")
            let asked = try await app.begin(browser, ["prompt": "consent"])
            _ = try app.code(try await browser.submit(asked, "consent", ["answer": "allow"]))
            // Jane's consent does not apply to John.
            let other = WireBrowser(server.wire)
            let johns = try await other.signIn(try await app.begin(other), PushOrganization.john, PushOrganization.johnsPassword)
            #expect(johns.body.contains("asks to:"))
        }
    }
}
