import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Browser sessions")
struct SessionTests {
    /// Returns a browser in which Jane has signed in to an app with one factor.
    private static func signedIn(_ server: PushServer) async throws -> WireBrowser {
        let browser = WireBrowser(server.wire)
        let app = WireRelyingParty.readingApp
        _ = try app.code(try await browser.signIn(try await app.begin(browser)))
        return browser
    }

    private static func janesID(_ server: PushServer) async throws -> String {
        try #require(try await server.engine.user(login: PushOrganization.jane)).id
    }

    private static func context(_ server: PushServer) -> RequestContext { RequestContext(now: server.clock.now, requestID: "test") }

    @Test("A second app at another authorization server gets its code without a page, with the auth_time of the first sign-in")
    func singleSignOn() async throws {
        try await PushServer.with { server in
            let browser = try await Self.signedIn(server)
            let secret = browser.cookies["session"]
            let time = Int64(server.clock.now.timeIntervalSince1970)
            server.clock.advance(by: 600)
            var app = WireRelyingParty.webApp
            app.base = "/oauth2/v1"
            let response = try await browser.get(app.authorizeURL(["prompt": "none"]))
            #expect(response.status == 302)
            let tokens = try await IssuedTokens(
                try await app.exchange(try app.code(response), server.wire), keysFrom: app.base, server.wire)
            // These tokens have the same auth_time as tokens that are issued at once, whose auth_time must be smaller than iat.
            #expect(tokens.idToken["auth_time"] == .integer(time - 1))
            // The user proved nothing new, so the browser keeps its secret.
            #expect(browser.cookies["session"] == secret)
            let sessions = try await server.engine.sessions(ofUser: try await Self.janesID(server), now: server.clock.now)
            #expect(sessions.map { $0.clients.map(\.id) } == [["reading-app", "web-app"]])
        }
    }

    @Test("For an app that requires two factors, a signed-in user proves only the second factor, and the session gets a new secret")
    func stepUp() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let browser = try await Self.signedIn(server)
            let before = try #require(browser.cookies["session"])
            let app = WireRelyingParty.browserApp
            #expect(try app.error(try await browser.get(app.authorizeURL(["prompt": "none"]))) == "interaction_required")
            let choice = try await app.begin(browser)
            #expect(!choice.body.contains("current-password"))
            let waiting = try await browser.submit(choice, "factor", ["factor": "push"])
            try await phone.approve()
            let address = try WireBrowser.form(waiting, "cancel").action.replacing("/cancel", with: "")
            let tokens = try await IssuedTokens(
                try await app.exchange(try app.code(try await browser.get(address)), server.wire), keysFrom: app.base, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd", "okta_verify", "swk", "mfa"])
            #expect(browser.cookies["session"] != before)
            let thief = WireBrowser(server.wire)
            thief.cookies["session"] = before
            #expect(try app.error(try await thief.get(app.authorizeURL(["prompt": "none"]))) == "login_required")
            #expect(try app.code(try await browser.get(app.authorizeURL(["prompt": "none"]))).isEmpty == false)
            #expect(try await server.engine.sessions(ofUser: try await Self.janesID(server), now: server.clock.now).count == 1)
        }
    }

    @Test(
        "A browser session expires after its idle time and after its absolute lifetime",
        arguments: [(7_199.0, 1, true), (7_200, 1, false), (7_000, 13, false)])
    func lifetime(seconds: TimeInterval, times: Int, isOpen: Bool) async throws {
        try await PushServer.with { server in
            let browser = try await Self.signedIn(server)
            let app = WireRelyingParty.webApp
            for _ in 1..<times {
                server.clock.advance(by: seconds)
                if 86_400 > server.clock.now.timeIntervalSince1970 - 1_800_000_000 {
                    _ = try app.code(try await browser.get(app.authorizeURL(["prompt": "none"])))
                }
            }
            server.clock.advance(by: seconds)
            let response = try await browser.get(app.authorizeURL(["prompt": "none"]))
            if isOpen { _ = try app.code(response) } else { #expect(try app.error(response) == "login_required") }
        }
    }

    /// An event other than expiry that ends a session.
    enum Ending: CaseIterable, Sendable { case password, deactivation, suspension, everywhere }

    @Test(
        "A new password, a deactivation, a suspension or a sign-out everywhere revokes the user's sessions, unfinished sign-ins and codes",
        arguments: Ending.allCases)
    func ended(by ending: Ending) async throws {
        try await PushServer.with { server in
            // With an enrolled phone, the second app's page continues with the session's proof.
            _ = try await server.enroll()
            let browser = try await Self.signedIn(server)
            let app = WireRelyingParty.readingApp
            let code = try app.code(try await browser.get(app.authorizeURL()))
            let stepping = try await WireRelyingParty.browserApp.begin(browser)
            let id = try await Self.janesID(server)
            switch ending {
            case .password: _ = try await server.engine.setPassword(userID: id, to: "Another-Horse-8", context: Self.context(server))
            case .deactivation: _ = try await server.engine.setStatus(userID: id, to: .deactivated, context: Self.context(server))
            case .suspension: _ = try await server.engine.setStatus(userID: id, to: .suspended, context: Self.context(server))
            case .everywhere:
                let ended = try await server.engine.endSessions(ofUser: id, context: Self.context(server))
                #expect(ended == 1)
            }
            #expect(try await server.engine.sessions(ofUser: id, now: server.clock.now).isEmpty)
            #expect(try app.error(try await browser.get(app.authorizeURL(["prompt": "none"]))) == "login_required")
            try expectRefusal(try await app.exchange(code, server.wire), 400, "invalid_grant")
            // A sign-in that relied on the session has ended too.
            let form = try WireBrowser.form(stepping, "factor")
            let late = try await browser.post(form.action, form.fields.merging(["factor": "push"]) { $1 })
            #expect(late.status == 400 && late.body.contains("This sign-in has expired"))
        }
    }

    @Test(
        "A signed-in user must enter the password again if prompt=login is set, or if max_age or the app's own maximum age is exceeded",
        arguments: ["prompt", "max_age", "zero", "rule"])
    func again(_ what: String) async throws {
        try await PushServer.with { server in
            let browser = try await Self.signedIn(server)
            let before = browser.cookies["session"]
            let app = what == "rule" ? WireRelyingParty(id: "fresh-app", redirectURI: "https://fresh.example.com/callback") : .webApp
            let changes =
                ["prompt": ["prompt": "login"], "max_age": ["max_age": "300"], "zero": ["max_age": "0"], "rule": [:]][what] ?? [:]
            if what == "max_age" || what == "rule" {
                server.clock.advance(by: 299)
                _ = try app.code(try await browser.get(app.authorizeURL(changes)))
                server.clock.advance(by: 1)
                #expect(
                    try app.error(try await browser.get(app.authorizeURL(changes.merging(["prompt": "none"]) { $1 }))) == "login_required")
            }
            let page = try await app.begin(browser, changes)
            #expect(page.body.contains(#"value="jane.doe@example.com""#))
            server.clock.advance(by: 10)
            let code = try app.code(try await browser.signIn(page))
            let tokens = try await IssuedTokens(try await app.exchange(code, server.wire), keysFrom: app.base, server.wire)
            #expect(tokens.idToken["auth_time"] == .integer(Int64(server.clock.now.timeIntervalSince1970) - 1))
            #expect(browser.cookies["session"] != before)
            #expect(try await server.engine.sessions(ofUser: try await Self.janesID(server), now: server.clock.now).count == 1)
        }
    }

    @Test("A browser that lost its session cookie and reloads the finished page continues the session under a new secret")
    func loadedAgain() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            let app = WireRelyingParty.readingApp
            let page = try await app.begin(browser)
            let address = try WireBrowser.form(page, "password").action.replacing("/password", with: "")
            _ = try app.code(try await browser.signIn(page))
            let lost = try #require(browser.cookies["session"])
            browser.cookies["session"] = nil
            _ = try app.code(try await browser.get(address))
            #expect(browser.cookies["session"] != lost)
            #expect(try await server.engine.sessions(ofUser: try await Self.janesID(server), now: server.clock.now).count == 1)
            _ = try app.code(try await browser.get(app.authorizeURL(["prompt": "none"])))
            let thief = WireBrowser(server.wire)
            thief.cookies["session"] = lost
            #expect(try app.error(try await thief.get(app.authorizeURL(["prompt": "none"]))) == "login_required")
        }
    }

    @Test("A sign-in of another user in the same browser ends the previous user's session")
    func another() async throws {
        try await PushServer.with { server in
            let browser = try await Self.signedIn(server)
            let app = WireRelyingParty.webApp
            let page = try await app.begin(browser, ["prompt": "login"])
            let code = try app.code(try await browser.signIn(page, PushOrganization.john, PushOrganization.johnsPassword))
            let tokens = try await IssuedTokens(try await app.exchange(code, server.wire), keysFrom: app.base, server.wire)
            #expect(tokens.accessToken["sub"] == .string(PushOrganization.john))
            #expect(try await server.engine.sessions(ofUser: try await Self.janesID(server), now: server.clock.now).isEmpty)
        }
    }

    @Test("With an id_token_hint, a sign-in of another user is rejected, and a hint that was issued to another client is rejected")
    func hint() async throws {
        try await PushServer.with { server in
            let browser = try await Self.signedIn(server)
            let app = WireRelyingParty.webApp
            let tokens = try await app.exchange(try app.code(try await browser.get(app.authorizeURL())), server.wire).json
            let hint = try #require(tokens["id_token"]?.stringValue)
            _ = try app.code(try await browser.get(app.authorizeURL(["id_token_hint": hint, "prompt": "none"])))
            let other = WireBrowser(server.wire)
            let page = try await app.begin(other, ["id_token_hint": hint])
            let answer = try await other.signIn(page, PushOrganization.john, PushOrganization.johnsPassword)
            #expect(try app.error(answer) == "login_required")
            // Another client's ID token is not a valid hint.
            let reading = WireRelyingParty.readingApp
            #expect(try reading.error(try await browser.get(reading.authorizeURL(["id_token_hint": hint]))) == "invalid_request")
        }
    }

    @Test("Requested acr_values can require a second factor and are returned as acr; if the values cannot be met, the client gets an error")
    func contextClasses() async throws {
        try await PushServer.with { server in
            let browser = try await Self.signedIn(server)
            let app = WireRelyingParty.webApp
            let asked = ["acr_values": "urn:example:unknown urn:okta:loa:2fa:any"]
            #expect(try app.error(try await browser.get(app.authorizeURL(asked))) == "unmet_authentication_requirements")
            let phone = try await server.enroll()
            let waiting = try await browser.submit(try await app.begin(browser, asked), "factor", ["factor": "push"])
            try await phone.approve()
            let address = try WireBrowser.form(waiting, "cancel").action.replacing("/cancel", with: "")
            let code = try app.code(try await browser.get(address))
            let tokens = try await IssuedTokens(try await app.exchange(code, server.wire), keysFrom: app.base, server.wire)
            #expect(tokens.idToken["acr"] == "urn:okta:loa:2fa:any")
        }
    }
}
