import Foundation
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import IdentityCore
@testable import ServerHTTP
@testable import SignInPages

@Suite("Sign-in pages")
struct SignInPageTests {
    @Test("Cookies of the sign-in pages are host-only, HttpOnly, SameSite=Lax and Secure")
    func cookies() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            let app = WireRelyingParty.readingApp
            _ = try app.code(try await browser.signIn(try await app.begin(browser)))
            #expect(browser.setCookies.count == 4)
            let secret = "[0-9A-Za-z]{43}; Path=/; "
            for (cookie, pattern) in zip(
                browser.setCookies,
                [
                    "__Host-browser=\(secret)", "__Host-signin-[0-9A-Za-z_-]{16}=\(secret)Max-Age=1800; ",
                    "__Host-device=\(secret)Max-Age=31536000; ",
                    "__Host-session=\(secret)",
                ])
            {
                #expect(try Regex(pattern + "HttpOnly; SameSite=Lax; Secure").wholeMatch(in: cookie) != nil, "\(cookie)")
            }
        }
        let secure = BrowserCookies(isSecure: true)
        var response = ServerResponse(status: .ok)
        let request = ServerRequest(
            head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/"), body: [],
            context: RequestContext(now: .now, requestID: "cookies"))
        secure.write(BrowserSecrets(browser: "b", session: "s"), of: request, to: &response)
        #expect(
            response.headers[values: .setCookie] == [
                "__Host-browser=b; Path=/; HttpOnly; SameSite=Lax; Secure", "__Host-session=s; Path=/; HttpOnly; SameSite=Lax; Secure",
            ])
    }

    @Test("A sign-in page allows no script, no framing, no content of other sites and no caching")
    func headers() async throws {
        let server = try await PushServer.refusing().server
        let page = try await WireRelyingParty.browserApp.begin(WireBrowser(server.wire))
        #expect(
            page["Content-Security-Policy"]
                == "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' http://127.0.0.1:49152; base-uri 'none'; frame-ancestors 'none'"
        )
        #expect(page["X-Frame-Options"] == "DENY")
        #expect(page["Referrer-Policy"] == "no-referrer")
        #expect(page["X-Content-Type-Options"] == "nosniff")
        #expect(page["Cache-Control"] == "no-cache, no-store")
        #expect(page["Cross-Origin-Opener-Policy"] == "same-origin")
        // The redirect to the page has the same policy: if the policies differ, browsers switch processes for each form.
        let begun = try await WireBrowser(server.wire).get(WireRelyingParty.browserApp.authorizeURL())
        #expect(begun.status == 303 && begun["Cross-Origin-Opener-Policy"] == "same-origin")
        #expect(!page.body.contains("<script"))
    }

    @Test(
        "The form-action directive of a sign-in page contains only the origin or the scheme of the redirect URI",
        arguments: [
            ("https://app.example.com/callback", "https://app.example.com"), ("http://127.0.0.1:80/x", "http://127.0.0.1:80"),
            ("http://[::1]:80/x", "http:"), ("com.example.app:/callback", "com.example.app:"),
            ("https://app.example.com;script-src *", "https:"), ("nothing", "'self'"), ("a b:/", "'self'"),
        ])
    func formAction(uri: String, source: String) {
        #expect(ContentPolicy.source(of: uri) == source)
    }

    @Test("A sign-in page and its forms are valid only in the browser that started the sign-in")
    func otherBrowser() async throws {
        try await PushServer.with { server in
            let victim = WireBrowser(server.wire)
            let attacker = WireBrowser(server.wire)
            let app = WireRelyingParty.readingApp
            let page = try await app.begin(attacker)
            let address = try WireBrowser.form(page, "cancel").action.replacing("/cancel", with: "")
            // Login CSRF: the victim's browser opens the attacker's sign-in, first without cookies and then with its own cookies.
            #expect(try await victim.get(address).status == 403)
            _ = try await app.begin(victim)
            #expect(try await victim.get(address).status == 403)
            var form = try WireBrowser.form(page, "password")
            form.fields["username"] = PushOrganization.jane
            form.fields["password"] = PushOrganization.janesPassword
            #expect(try await victim.post(form.action, form.fields).status == 403)
            #expect(victim.cookies["session"] == nil)
            // A form of another site has no token, or the token of another sign-in.
            let other = try WireBrowser.form(try await app.begin(attacker), "password").fields["form_token"]
            for token in [nil, "", "AAAA", other] {
                form.fields["form_token"] = token
                #expect(try await attacker.post(form.action, form.fields).status == 403)
            }
            #expect(try await server.wire.get("/signin/" + String(repeating: "a", count: 43)).status == 400)
        }
    }

    @Test("A request with a second session cookie in addition to the server's cookie is treated as signed out")
    func plantedCookie() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            let app = WireRelyingParty.readingApp
            _ = try app.code(try await browser.signIn(try await app.begin(browser)))
            let session = try #require(browser.cookies["session"])
            for cookies in ["__Host-session=\(session); __Host-session=evil", "__Host-session=evil; __Host-session=\(session)"] {
                let planted = try await server.wire.get(app.authorizeURL(["prompt": "none"]), headers: [("Cookie", cookies)])
                #expect(try app.error(planted) == "login_required")
            }
        }
    }

    @Test("The server never adopts a session secret from the request")
    func fixation() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            browser.cookies["session"] = String(repeating: "f", count: 43)
            let app = WireRelyingParty.readingApp
            _ = try app.code(try await browser.signIn(try await app.begin(browser)))
            #expect(browser.cookies["session"] != String(repeating: "f", count: 43))
        }
    }

    @Test("Unknown users, wrong passwords, and suspended and locked accounts get the same page, and the lockout applies")
    func wrongCredentials() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.readingApp
            func page(_ login: String, _ password: String) async throws -> String {
                let browser = WireBrowser(server.wire)
                let page = try await browser.signIn(try await app.begin(browser), login, password)
                #expect(page.status == 200)
                #expect(page.body.contains("The user name or the password is wrong."))
                return page.body.replacing(/\/signin\/[0-9A-Za-z]+/, with: "").replacing(/form_token" value="[^"]*"/, with: "")
                    .replacing(login, with: "")
            }
            let unknown = try await page("unknown@example.com", "Wrong-Horse-7")
            #expect(try await page("suspended@example.com", "Correct-Horse-8") == unknown)
            for _ in 1...5 { #expect(try await page(PushOrganization.jane, "Wrong-Horse-7") == unknown) }
            // The account is locked, so the correct password is rejected too.
            #expect(try await page(PushOrganization.jane, PushOrganization.janesPassword) == unknown)
            #expect(try await server.logged("user.account.lock") == 1)
            let direct = try await DirectClient(server).password()
            #expect(direct.status == 400)
            // The same page accepts the correct password after wrong ones.
            let browser = WireBrowser(server.wire)
            var again = try await app.begin(browser)
            for _ in 1...4 { again = try await browser.signIn(again, PushOrganization.john, "Wrong-Staple-9") }
            _ = try app.code(try await browser.signIn(again, PushOrganization.john, PushOrganization.johnsPassword))
        }
    }

    @Test("If the user exceeds the limit of sign-in attempts, the page shows an error, and the user can sign in a minute later")
    func limited() async throws {
        var organization = PushOrganization()
        organization.rateLimits.perUser = 2
        try await PushServer.with(organization) { server in
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            var page = try await app.begin(browser)
            for _ in 1...2 { page = try await browser.signIn(page, PushOrganization.jane, "Wrong-Horse-7") }
            page = try await browser.signIn(page)
            #expect(page.body.contains("Too many attempts."))
            server.clock.advance(by: 60)
            _ = try app.code(try await browser.signIn(page))
        }
    }

    @Test(
        "Each address can start a limited number of sign-ins per minute, and these sign-ins do not count against the client's rate limit",
        .onOneServer)
    func beginnings() async throws {
        var organization = PushOrganization()
        organization.rateLimits.perAddressSignIns = 3
        organization.rateLimits.perClient = 2
        try await PushServer.with(organization) { server in
            let app = WireRelyingParty.webApp
            let browser = WireBrowser(server.wire)
            let page = try await app.begin(browser)
            #expect(page.status == 200)
            let form = try WireBrowser.form(page, "password")
            let restart = form.action.replacing("/password", with: "/restart")
            #expect(try await browser.post(restart, form.fields)["Location"]?.hasPrefix("/signin/") == true)
            #expect(try await server.wire.post("\(app.base)/authorize", Form.encode(app.parameters())).status == 303)
            #expect(try await browser.get(app.authorizeURL()).status == 429)
            #expect(try await server.wire.post("\(app.base)/authorize", Form.encode(app.parameters())).status == 429)
            #expect(try await browser.post(restart, form.fields).status == 429)
            // The limit does not apply to requests that start no sign-in, nor to the client's own requests.
            #expect(try app.error(try await browser.get(app.authorizeURL(["prompt": "none"]))) == "login_required")
            try expectRefusal(try await app.exchange("ac_unknown", server.wire), 400, "invalid_grant")
            server.clock.advance(by: 60)
            #expect(try await app.begin(browser).status == 200)
        }
    }

    @Test("Resubmitting the password form yields a new code until a code is exchanged; then the page says that the sign-in is complete")
    func doubleSubmit() async throws {
        try await PushServer.with { server in
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            let page = try await app.begin(browser)
            let first = try app.code(try await browser.signIn(page))
            // The browser may have lost the first response, so only the second code is valid.
            let second = try app.code(try await browser.signIn(page))
            try expectRefusal(try await app.exchange(first, server.wire), 400, "invalid_grant")
            #expect(try await app.exchange(second, server.wire).status == 200)
            let form = try WireBrowser.form(page, "password")
            let over = try await browser.post(
                form.action,
                form.fields.merging(["username": PushOrganization.jane, "password": PushOrganization.janesPassword]) { $1 })
            #expect(over.status == 200)
            #expect(over.body.contains("This sign-in is already complete."))
            #expect(over["Location"] == nil)
            // The browser's session is still valid.
            _ = try app.code(try await browser.get(app.authorizeURL(["prompt": "none"])))
        }
    }

    @Test(
        "Cancelling a sign-in page sends the app access_denied, restarting discards the entered password, and an expired sign-in is rejected"
    )
    func leaving() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let app = WireRelyingParty.browserApp
            let browser = WireBrowser(server.wire)
            let first = try await app.begin(browser)
            #expect(try app.error(try await browser.submit(first, "cancel")) == "access_denied")
            let choice = try await browser.signIn(try await app.begin(browser))
            let again = try await browser.submit(choice, "restart")
            #expect(again.body.contains("current-password"))
            #expect(browser.cookies["session"] == nil)
            server.clock.advance(by: 1_800)
            let form = try WireBrowser.form(again, "password")
            let late = try await browser.post(
                form.action,
                form.fields.merging(["username": PushOrganization.jane, "password": PushOrganization.janesPassword]) { $1 })
            #expect(late.status == 400)
            #expect(late.body.contains("This sign-in has expired."))
        }
    }

    @Test("After a denied or expired push, the user chooses a factor again; a reported push sends the app access_denied")
    func pushAnswers() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let app = WireRelyingParty.browserApp
            let browser = WireBrowser(server.wire)
            var waiting = try await browser.submit(
                try await browser.signIn(try await app.begin(browser)), "factor", ["factor": "push"])
            // A form that is submitted twice sends one push.
            _ = try await browser.submit(waiting, "factor", ["factor": "push"])
            #expect(try await phone.waiting().count == 1)
            let address = try WireBrowser.form(waiting, "cancel").action.replacing("/cancel", with: "")
            server.clock.advance(by: 300)
            waiting = try await browser.get(address)
            #expect(waiting.body.contains("The request was not answered on a device in time."))
            waiting = try await browser.submit(waiting, "factor", ["factor": "push"])
            try await phone.deny()
            waiting = try await browser.get(address)
            #expect(waiting.body.contains("The request was not approved on your device."))
            waiting = try await browser.submit(waiting, "factor", ["factor": "push"])
            #expect(waiting.body.contains("/events\"") && !waiting.body.contains("role=\"alert\""))
            #expect(try await phone.answer(try await phone.challenge(), .report).status == 204)
            #expect(try app.error(try await browser.get(address)) == "access_denied")
        }
    }

    @Test("A sign-in page escapes the login hint and the user name")
    func escaping() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            let hint = "\"\u{301}onfocus=alert(1) x='<script>alert(1)</script>&amp;{{texts}}"
            let page = try await WireRelyingParty.readingApp.begin(browser, ["login_hint": hint])
            #expect(
                page.body.contains(
                    "value=\"&quot;\u{301}onfocus=alert(1) x=&#39;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;{{texts}}\""))
            let again = try await browser.signIn(page, hint, "x")
            #expect(!again.body.contains("<script"))
            #expect(PageContent().escapeText("<\u{338}\"\u{301}'\u{301}") == "&lt;\u{338}&quot;\u{301}&#39;\u{301}")
        }
    }

    @Test(
        "The language of a sign-in page is the first supported language that the app requests, or else the first that the browser requests",
        arguments: [
            ("", "", "en"), ("de", "", "de"), ("fr de-CH en", "en", "de"), ("", "fr, en;q=0.5, de;q=0.9", "de"),
            ("", "de;q=0, en;q=0.1", "en"), ("fr", "nonsense;;;,,;q=x", "en"),
        ])
    func language(asked: String, header: String, language: String) async throws {
        let server = try await PushServer.refusing().server
        let browser = WireBrowser(server.wire)
        if !header.isEmpty { browser.headers = [("Accept-Language", header)] }
        let page = try await WireRelyingParty.readingApp.begin(browser, ["ui_locales": asked])
        #expect(page["Content-Language"] == language)
        #expect(page.body.contains("<html lang=\"\(language)\">"))
    }

    @Test(
        "The request log omits addresses that grant access, such as sign-in pages, mailed links and QR codes of factors",
        arguments: [
            ("/signin/reset-password/rt_a-token", "/signin/-"), ("/signin/unlock/rt_a-token", "/signin/-"),
            ("/signin/set-up/at_a-token", "/signin/-"), ("/signin/mail/ml_a-token", "/signin/-"),
            ("/signin/recover/00a-token", "/signin/-"), ("/signin/recover/00a-token/code", "/signin/-"),
            ("/signin/a-token/forgot", "/signin/-"), ("/signin/a-token/events", "/signin/-"),
            ("/api/v1/users/00ua-token/factors/ostf1/qr/a-token", "/api/v1/users/-"), ("/api/v1/users/a-token/sessions", "/api/v1/users/-"),
        ])
    func logged(path: String, expected: String) async throws {
        let lines = NIOLockedValueBox<[(Logger.Level, Logger.Metadata)]>([])
        let logger = Logger(label: "test") { _ in RecordingHandler(lines: lines) }
        try await RunningServer.fresh(logger: logger) { running in _ = try await running.wire.get(path) }
        #expect(lines.withLockedValue { $0.compactMap { $0.1["path"]?.description } } == [expected])
        #expect(lines.withLockedValue { lines in !lines.contains { "\($0.1)".contains("a-token") } })
    }

    @Test("The request log omits the sign-in's ID in the address of a page, and keeps the addresses of assets")
    func log() async throws {
        let lines = NIOLockedValueBox<[(Logger.Level, Logger.Metadata)]>([])
        let logger = Logger(label: "test") { _ in RecordingHandler(lines: lines) }
        try await RunningServer.fresh(logger: logger) { running in
            for step in ["", "/password"] { _ = try await running.wire.get("/signin/a-token-of-a-sign-in" + step) }
            _ = try await running.wire.get("/signin/assets/0123456789abcdef/pages.css")
        }
        let paths = lines.withLockedValue { $0.compactMap { $0.1["path"]?.description } }
        #expect(paths == ["/signin/-", "/signin/-", "/signin/assets/0123456789abcdef/pages.css"])
        #expect(lines.withLockedValue { lines in !lines.contains { "\($0.1)".contains("a-token") } })
    }
}
