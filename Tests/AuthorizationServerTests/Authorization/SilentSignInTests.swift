import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Silent sign-in of native apps (RFC 8252 §8.6)")
struct SilentSignInTests {
    /// A public app with a custom URI scheme, which any program on the device can register.
    private static let native = WireRelyingParty(id: "sso-app", redirectURI: "com.example.sso:/callback")

    private static func signedIn(_ server: PushServer) async throws -> WireBrowser {
        let browser = WireBrowser(server.wire)
        let app = WireRelyingParty.readingApp
        _ = try app.code(try await browser.signIn(try await app.begin(browser)))
        return browser
    }

    @Test("An app with a custom URI scheme gets a code from an existing session only after the user confirms each request")
    func asked() async throws {
        try await PushServer.with { server in
            let browser = try await Self.signedIn(server)
            for _ in 1...2 {
                #expect(
                    try Self.native.error(try await browser.get(Self.native.authorizeURL(["prompt": "none"]))) == "interaction_required")
                let page = try await Self.native.begin(browser)
                #expect(page.status == 200 && page.body.contains("First app asks to:"))
                #expect(!page.body.contains("current-password"))
                let code = try Self.native.code(try await browser.submit(page, "consent", ["answer": "allow"]))
                #expect(try await Self.native.exchange(code, server.wire).status == 200)
            }
            let page = try await Self.native.begin(browser)
            #expect(try Self.native.error(try await browser.submit(page, "consent", ["answer": "deny"])) == "access_denied")
        }
    }

    @Test(
        "A native app with a loopback redirect URI gets a code without the user's confirmation only if the user proved a factor in this sign-in"
    )
    func loopback() async throws {
        try await PushServer.with(PushOrganization(silentBrowserApp: false)) { server in
            let phone = try await server.enroll()
            let browser = try await Self.signedIn(server)
            let app = WireRelyingParty.browserApp
            let choice = try await app.begin(browser)
            let waiting = try await browser.submit(choice, "factor", ["factor": "push"])
            try await phone.approve()
            let address = try WireBrowser.form(waiting, "cancel").action.replacing("/cancel", with: "")
            _ = try app.code(try await browser.get(address))
            #expect(try app.error(try await browser.get(app.authorizeURL(["prompt": "none"]))) == "interaction_required")
            let anew = try await app.begin(browser, ["prompt": "login"])
            #expect(anew.body.contains("current-password"))
        }
    }

    @Test("An authorization request that a native app pushed without client authentication still requires the user's confirmation")
    func pushed() async throws {
        try await PushServer.with { server in
            let browser = try await Self.signedIn(server)
            let answer = try await server.wire.post("\(Self.native.base)/par", Form.encode(Self.native.parameters()))
            let uri = try #require(try answer.json["request_uri"]?.stringValue)
            let link = "\(Self.native.base)/authorize?" + Form.encode(["client_id": Self.native.id, "request_uri": uri])
            #expect(try await browser.follow(try await browser.get(link)).body.contains("First app asks to:"))
        }
    }

    @Test("A client that authenticates, returns to an https URI or sends its own ID token gets a code without confirmation")
    func assured() async throws {
        try await PushServer.with { server in
            let browser = try await Self.signedIn(server)
            var local = WireRelyingParty.webApp
            local.redirectURI = "http://127.0.0.1/web"
            for app in [WireRelyingParty.webApp, local, .readingApp] {
                _ = try app.code(try await browser.get(app.authorizeURL(["prompt": "none"])))
            }
            let page = try await Self.native.begin(browser)
            let code = try Self.native.code(try await browser.submit(page, "consent", ["answer": "allow"]))
            let hint = try #require(try await Self.native.exchange(code, server.wire).json["id_token"]?.stringValue)
            _ = try Self.native.code(try await browser.get(Self.native.authorizeURL(["prompt": "none", "id_token_hint": hint])))
        }
    }

    @Test("An ID token from a session that the user signed out of does not replace the user's confirmation in the next session")
    func hintOfEndedSession() async throws {
        try await PushServer.with { server in
            let browser = try await Self.signedIn(server)
            let page = try await Self.native.begin(browser)
            let code = try Self.native.code(try await browser.submit(page, "consent", ["answer": "allow"]))
            let hint = try #require(try await Self.native.exchange(code, server.wire).json["id_token"]?.stringValue)
            let question = try await browser.get(LogoutTests.url([:]))
            let form = try WireBrowser.form(question, "logout")
            #expect(try await browser.post(form.action, form.fields).body.contains("<h1>You are signed out</h1>"))
            let app = WireRelyingParty.readingApp
            _ = try app.code(try await browser.signIn(try await app.begin(browser)))
            let silent = try await browser.get(Self.native.authorizeURL(["prompt": "none", "id_token_hint": hint]))
            #expect(try Self.native.error(silent) == "interaction_required")
        }
    }

    @Test("A native app that the operator trusts on every device gets a code without the user's confirmation")
    func trusted() async throws {
        try await PushServer.with { server in
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)).id
            let token = try #require(
                try await server.engine.mintSessionToken(
                    userID: id, isTwoFactors: true, context: .init(now: server.clock.now, requestID: "test")))
            let browser = WireBrowser(server.wire)
            let app = WireRelyingParty.browserApp
            _ = try app.code(try await browser.get(app.authorizeURL(["sessionToken": token])))
            _ = try app.code(try await browser.get(app.authorizeURL(["prompt": "none"])))
        }
    }

    @Test("A native app that sends a session token of the user gets a code without the user's confirmation")
    func sessionToken() async throws {
        try await PushServer.with { server in
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)).id
            let token = try #require(
                try await server.engine.mintSessionToken(userID: id, context: .init(now: server.clock.now, requestID: "test")))
            _ = try Self.native.code(try await WireBrowser(server.wire).get(Self.native.authorizeURL(["sessionToken": token])))
        }
    }
}
