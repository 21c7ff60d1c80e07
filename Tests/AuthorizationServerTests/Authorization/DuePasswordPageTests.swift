import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Expired password page")
struct DuePasswordPageTests {
    private static let new = "Next-Horse-Staple-8"
    private static let organization: PushOrganization = {
        var organization = PushOrganization()
        organization.passwordPolicy.complexity = .init(digits: 1)
        organization.passwordPolicy.age = .init(maximumDays: 30, history: 3)
        return organization
    }()

    private static func janesID(_ server: PushServer) async throws -> String {
        try #require(try await server.engine.user(login: PushOrganization.jane)).id
    }

    private static func context(_ server: PushServer) -> RequestContext { RequestContext(now: server.clock.now, requestID: "test") }

    /// Submits a new password on the page.
    private static func change(
        _ browser: WireBrowser, _ page: WireResponse, to password: String, repeated: String? = nil
    ) async throws -> WireResponse {
        try await browser.submit(page, "new-password", ["password": password, "repeated": repeated ?? password])
    }

    @Test("A user with an expired password sees the password rules, sets a new password and completes the sign-in")
    func changes() async throws {
        try await PushServer.with(Self.organization) { server in
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            server.clock.advance(by: 30 * 86_400)
            let page = try await browser.signIn(try await app.begin(browser))
            #expect(page.body.contains("Choose a new password") && browser.cookies["session"] == nil)
            for rule in ["At least 8 characters", "Digits: at least 1", "Different from your last 3 passwords"] {
                #expect(page.body.contains("<li>\(rule)</li>"))
            }
            #expect(page.body.contains(#"autocomplete="new-password""#))
            let code = try app.code(try await Self.change(browser, page, to: Self.new))
            let tokens = try await IssuedTokens(try await app.exchange(code, server.wire), keysFrom: app.base, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd"])
            #expect(try await server.logged("user.account.update_password") == 1)

            // From now on, only the new password signs in, and it has not expired.
            let other = WireBrowser(server.wire)
            let again = try await app.begin(other)
            #expect(try await other.signIn(again).body.contains("The user name or the password is wrong"))
            _ = try app.code(try await other.signIn(again, PushOrganization.jane, Self.new))
        }
    }

    @Test("A new password that breaks the rules is rejected with a message for each rule, and the password is not changed")
    func refuses() async throws {
        try await PushServer.with(Self.organization) { server in
            let browser = WireBrowser(server.wire)
            _ = try await server.engine.expirePassword(userID: Self.janesID(server), context: Self.context(server))
            var page = try await browser.signIn(try await WireRelyingParty.readingApp.begin(browser))
            for (password, sentences) in [
                ("Ab!-x", ["At least 8 characters", "Digits: at least 1"]), (PushOrganization.janesPassword, ["your last 3 passwords"]),
                ("my-jane.doe-word-1", ["Does not contain your user name"]), ("password123", ["Not a common password"]),
            ] {
                page = try await Self.change(browser, page, to: password)
                let refused = try #require(
                    page.body.components(separatedBy: #"id="refused""#).last?.components(separatedBy: "</div>").first)
                for sentence in sentences { #expect(refused.contains(sentence), "\(password): \(refused)") }
                #expect(!page.body.contains(password))
            }
            page = try await Self.change(browser, page, to: Self.new, repeated: Self.new + "!")
            #expect(page.body.contains("The passwords do not match"))
            #expect(try await server.logged("user.account.update_password") == 0)
            _ = try WireRelyingParty.readingApp.code(try await Self.change(browser, page, to: Self.new))
        }
    }

    @Test("The expired password page and its messages are in the language of the browser")
    func german() async throws {
        try await PushServer.with(Self.organization) { server in
            let browser = WireBrowser(server.wire)
            browser.headers = [("Accept-Language", "de")]
            _ = try await server.engine.expirePassword(userID: Self.janesID(server), context: Self.context(server))
            let page = try await browser.signIn(try await WireRelyingParty.readingApp.begin(browser))
            #expect(page.body.contains("Neues Passwort wählen") && page.body.contains("<li>Mindestens 8 Zeichen</li>"))
            #expect(try await Self.change(browser, page, to: "Ab!-x").body.contains("Wählen Sie ein anderes Passwort:"))
        }
    }

    @Test("A user with an expired password can change it only after the second factor that the policy requires")
    func secondFactorFirst() async throws {
        try await PushServer.with(Self.organization) { server in
            let phone = try await server.enroll()
            let app = WireRelyingParty.browserApp
            let browser = WireBrowser(server.wire)
            _ = try await server.engine.expirePassword(userID: phone.userID, context: Self.context(server))
            let choice = try await browser.signIn(try await app.begin(browser))
            #expect(choice.body.contains("asks for a second factor"))
            let (action, fields) = try WireBrowser.form(choice, "factor")
            let early = try await browser.post(
                action.replacing("/factor", with: "/new-password"), fields.merging(["password": Self.new, "repeated": Self.new]) { $1 })
            #expect(try await browser.follow(early).body.contains("asks for a second factor"))
            #expect(try await server.logged("user.account.update_password") == 0)
            _ = try await browser.submit(choice, "factor", ["factor": "push"])
            try await phone.approve()
            let page = try await browser.get(action.replacing("/factor", with: ""))
            #expect(page.body.contains("Choose a new password"))
            _ = try app.code(try await Self.change(browser, page, to: Self.new))
        }
    }

    @Test("Changing an expired password revokes the user's sessions, grants and unfinished sign-ins in other browsers")
    func endsOthers() async throws {
        try await PushServer.with(Self.organization) { server in
            let app = WireRelyingParty.readingApp
            let elsewhere = WireBrowser(server.wire)
            let code = try app.code(try await elsewhere.signIn(try await app.begin(elsewhere)))
            let tokens = try await app.exchange(code, server.wire, ["scope": "openid"]).json
            let underWay = WireBrowser(server.wire)
            _ = try await server.engine.expirePassword(userID: Self.janesID(server), context: Self.context(server))
            let waiting = try await underWay.signIn(try await app.begin(underWay))

            // The session began while the password was valid, so it stays valid until the change.
            _ = try app.code(try await elsewhere.get(app.authorizeURL(["prompt": "none"])))
            let browser = WireBrowser(server.wire)
            let page = try await browser.signIn(try await app.begin(browser))
            _ = try app.code(try await Self.change(browser, page, to: Self.new))
            #expect(try app.error(try await elsewhere.get(app.authorizeURL(["prompt": "none"]))) == "login_required")
            let info = try await server.wire.get(
                "/oauth2/default/v1/userinfo", headers: [("Authorization", "Bearer \(tokens["access_token"]?.stringValue ?? "")")])
            #expect(info.status == 401)
            let form = try WireBrowser.form(waiting, "new-password")
            let late = try await underWay.post(
                form.action, form.fields.merging(["password": "Third-Horse-9", "repeated": "Third-Horse-9"]) { $1 })
            #expect(late.status == 400)
            #expect(try await server.logged("user.account.update_password") == 1)
        }
    }

    @Test("Of several concurrent submissions of a new password, exactly one changes the password, and all submissions continue the sign-in")
    func race() async throws {
        try await PushServer.with(Self.organization) { server in
            let app = WireRelyingParty.readingApp
            let browser = WireBrowser(server.wire)
            _ = try await server.engine.expirePassword(userID: Self.janesID(server), context: Self.context(server))
            let page = try await browser.signIn(try await app.begin(browser))
            let form = try WireBrowser.form(page, "new-password")
            let wire = server.wire
            let cookie = browser.cookieHeader
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 1...4 {
                    let password = "Horse-Staple-Number-\(number)"
                    group.addTask {
                        try await wire.post(
                            form.action, Form.encode(form.fields.merging(["password": password, "repeated": password]) { $1 }),
                            headers: [("Cookie", cookie)]
                        ).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [303, 303, 303, 303])
            #expect(try await server.logged("user.account.update_password") == 1)
            _ = try app.code(try await browser.get(form.action.replacing("/new-password", with: "")))
        }
    }

    @Test("The password grant rejects an expired password with a message to set a new password in a browser")
    func direct() async throws {
        try await PushServer.with(Self.organization) { server in
            _ = try await server.engine.expirePassword(userID: Self.janesID(server), context: Self.context(server))
            func signIn(_ password: String) async throws -> WireResponse {
                try await server.wire.post(
                    "/oauth2/default/v1/token",
                    Form.encode([
                        "client_id": "easy-app", "grant_type": "password", "username": PushOrganization.jane, "password": password,
                        "scope": "openid",
                    ]))
            }
            let refused = try await signIn(PushOrganization.janesPassword)
            #expect(refused.status == 400)
            #expect(
                try refused.json == [
                    "error": "invalid_grant", "error_description": "The password has expired. Sign in with a browser to set a new one.",
                ])
            #expect(try await signIn("wrong-password").json["error_description"] == "The credentials provided were invalid.")
        }
    }
}
