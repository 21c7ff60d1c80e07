import DeviceAPI
import Foundation
import IdentityCore
import TestSupport
import Testing

@Suite("Proofs that apps inherit from a session")
struct InheritedProofTests {
    private static let manage = "openid \(PushOrganization.manageScope)"

    /// The web app at the org server, with the scope that permits the registration of keys.
    private static var manager: WireRelyingParty {
        var app = WireRelyingParty.webApp
        app.base = "/oauth2/v1"
        return app
    }

    /// Signs Jane in to the app that requires two factors.
    private static func signInTwice(_ browser: WireBrowser, _ phone: WirePhone) async throws {
        let app = WireRelyingParty.browserApp
        let choice = try await browser.signIn(try await app.begin(browser))
        let waiting = try await browser.submit(choice, "factor", ["factor": "push"])
        try await phone.approve()
        let address = try WireBrowser.form(waiting, "cancel").action.replacing("/cancel", with: "")
        _ = try app.code(try await browser.get(address))
    }

    @Test("The scope that registers keys requires a fresh sign-in, even if another app has just renewed the session")
    func interactive() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let browser = WireBrowser(server.wire)
            try await Self.signInTwice(browser, phone)
            let app = Self.manager
            let silent = app.authorizeURL(["scope": Self.manage, "prompt": "none"])
            #expect(try app.error(try await browser.get(silent)) == "login_required")
            server.clock.advance(by: 3_600)
            let reading = WireRelyingParty.readingApp
            _ = try reading.code(try await browser.signIn(try await reading.begin(browser, ["prompt": "login"])))
            let page = try await app.begin(browser, ["scope": Self.manage])
            #expect(page.body.contains("current-password"))
            let choice = try await browser.signIn(page)
            #expect(choice.body.contains("asks for a second factor."))
            #expect(try app.error(try await browser.get(silent)) == "login_required")
            // For other scopes, the session is still enough.
            _ = try app.code(try await browser.get(app.authorizeURL(["prompt": "none"])))
        }
    }

    @Test(
        "A second factor that a session got from a phone becomes invalid after the phone is removed or suspended",
        arguments: ["removed", "suspended"])
    func takenAway(_ how: String) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let browser = WireBrowser(server.wire)
            try await Self.signInTwice(browser, phone)
            let app = WireRelyingParty.browserApp
            let silent = app.authorizeURL(["prompt": "none"])
            _ = try app.code(try await browser.get(silent))
            let strange = WireRelyingParty(
                id: "strange-app", redirectURI: "https://strange.example.com/callback", secret: "strange-app-secret-012")
            let consent = try await strange.begin(browser)
            let context = RequestContext(now: server.clock.now, requestID: "test")
            if how == "removed" {
                #expect(try await server.engine.deleteDevice(phone.deviceID, context: context))
            } else {
                #expect(try await server.engine.suspendDevice(phone.deviceID, context: context))
            }
            // A user without a second factor sets up a new one, but only after a fresh sign-in: the old session is not enough.
            #expect(try app.error(try await browser.get(silent)) == (how == "removed" ? "login_required" : "access_denied"))
            if how == "removed" {
                let page = try await app.begin(browser)
                #expect(page.body.contains("current-password"))
                let offered = try await browser.signIn(page)
                #expect(offered.body.contains("Set up an authenticator app"))
            }
            // A consent page that relied on the phone yields no code.
            let form = try WireBrowser.form(consent, "consent")
            let allowed = try await browser.post(form.action, form.fields.merging(["answer": "allow"]) { $1 })
            #expect(allowed["Location"] == nil)
            // The session's proof of the password is still valid.
            _ = try WireRelyingParty.readingApp.code(
                try await browser.get(WireRelyingParty.readingApp.authorizeURL(["prompt": "none"])))
        }
    }

    @Test("A consent page yields no authorization code after the sign-in of the session has become older than max_age")
    func grownOld() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            let reading = WireRelyingParty.readingApp
            _ = try reading.code(try await browser.signIn(try await reading.begin(browser)))
            let app = WireRelyingParty(
                id: "strange-app", redirectURI: "https://strange.example.com/callback", secret: "strange-app-secret-012")
            for (seconds, isEnough) in [(59.0, true), (2, false)] {
                let page = try await app.begin(browser, ["max_age": "60", "scope": isEnough ? "openid" : "openid email"])
                #expect(page.body.contains("asks to:"))
                server.clock.advance(by: seconds)
                let form = try WireBrowser.form(page, "consent")
                let allowed = try await browser.post(form.action, form.fields.merging(["answer": "allow"]) { $1 })
                if isEnough {
                    _ = try app.code(try await browser.follow(allowed))
                } else {
                    #expect(allowed["Location"] == nil)
                    let address = form.action.replacing("/consent", with: "")
                    #expect(try await browser.get(address)["Location"] == nil)
                }
            }
        }
    }

    @Test("A finished sign-in page issues another authorization code within five minutes, and no code afterwards")
    func finishedPage() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            let app = WireRelyingParty.readingApp
            let page = try await app.begin(browser)
            let address = try WireBrowser.form(page, "password").action.replacing("/password", with: "")
            let first = try app.code(try await browser.signIn(page))
            server.clock.advance(by: 299)
            let second = try app.code(try await browser.get(address))
            #expect(first != second)
            server.clock.advance(by: 1)
            #expect(try await browser.get(address)["Location"] == nil)
            #expect(try await app.exchange(second, server.wire).status == 200)
        }
    }
}
