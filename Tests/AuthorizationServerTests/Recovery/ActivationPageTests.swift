import AuthnAPI
import AuthorizationServer
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Activation pages")
struct ActivationPageTests {
    /// Sends the activation mail to a user without a password and returns its link.
    private static func link(_ desk: RecoveryBrowser, _ login: String = PushOrganization.newcomer) async throws -> String {
        let id = try #require(try await desk.server.engine.user(login: login)?.id)
        #expect(try await desk.server.running.server.welcome(userID: id))
        let mail = try #require(await desk.server.messages.received())
        #expect(mail.recipient == login && mail.text.contains("It is valid for 7 days and works once.") && mail.code == nil)
        return try #require(mail.link)
    }

    @Test(
        "On the activation page, the first password must satisfy the password policy and starts no session; the first sign-in applies the sign-on policy"
    )
    func firstPassword() async throws {
        try await RecoveryBrowser.with { desk in
            let link = try await Self.link(desk)
            #expect(link.hasPrefix("/signin/set-up/at_"))
            var page = try await desk.open(link)
            #expect(page.status == 200 && page.body.contains("An account was created for you. Continue to set it up."))
            page = try await desk.browser.submit(page, "recover")
            #expect(page.body.contains("Choose a password") && page.body.contains("value=\"\(PushOrganization.newcomer)\""))
            #expect(page.body.contains("At least 8 characters") && !desk.browser.hasLink)
            page = try await desk.set("short", on: page)
            #expect(page.body.contains("Choose a different password:"))
            page = try await desk.set(RecoveryBrowser.new, "Another-Horse-9", on: page)
            #expect(page.body.contains("The passwords do not match."))
            #expect(try await desk.server.engine.user(login: PushOrganization.newcomer)?.status == .staged)
            page = try await desk.set(RecoveryBrowser.new, on: page)
            #expect(page.body.contains("Your account is set up") && page.body.contains("Go back to the application"))
            #expect(desk.browser.cookies["session"] == nil && !page.body.contains("class=\"button\""))
            #expect(try await desk.code(RecoveryBrowser.new, PushOrganization.newcomer) != nil)
            let browser = WireBrowser(desk.server.wire)
            let asked = try await browser.signIn(
                try await WireRelyingParty.browserApp.begin(browser), PushOrganization.newcomer, RecoveryBrowser.new)
            #expect(asked.body.contains("Set up an authenticator app"))
            #expect(try await desk.server.logged("user.lifecycle.activate") == 1)
            // The account is active: the link is invalid, and no other mail is sent.
            #expect(try await desk.open(link).body.contains("This link is invalid or expired"))
            let id = try #require(try await desk.server.engine.user(login: PushOrganization.newcomer)?.id)
            #expect(try await !desk.server.running.server.welcome(userID: id))
            #expect(try await !desk.server.running.server.welcome(userID: "00unobody"))
        }
    }

    @Test(
        "At activation, a user keeps the password that an administrator set, or replaces the password if it is expired",
        arguments: [false, true])
    func givenPassword(isDue: Bool) async throws {
        try await RecoveryBrowser.with { desk in
            let id = try #require(try await desk.server.engine.user(login: PushOrganization.newcomer)?.id)
            let context = RequestContext(now: desk.server.clock.now, requestID: "given")
            _ = try await desk.server.engine.setPassword(userID: id, to: RecoveryBrowser.new, context: context)
            if isDue { _ = try await desk.server.engine.expirePassword(userID: id, context: context) }
            #expect(try await desk.code(RecoveryBrowser.new, PushOrganization.newcomer) == nil)
            var page = try await desk.browser.submit(try await desk.open(try await Self.link(desk)), "recover")
            if isDue {
                #expect(page.body.contains("Choose a password"))
                page = try await desk.set("Chosen-Horse-9", on: page)
            }
            #expect(page.body.contains("Your account is set up") && desk.browser.cookies["session"] == nil)
            // Exactly one of the two passwords is valid.
            let given = try await desk.code(RecoveryBrowser.new, PushOrganization.newcomer)
            let chosen = try await desk.code("Chosen-Horse-9", PushOrganization.newcomer)
            #expect((given == nil) == isDue && (chosen != nil) == isDue)
        }
    }

    @Test("An activation link is consumed by its form in the same browser, not by opening it, and is invalid at the Authn API")
    func binding() async throws {
        try await RecoveryBrowser.with { desk in
            let link = try await Self.link(desk)
            let token = try #require(link.split(separator: "/").last).description
            for _ in 1...2 { #expect(try await desk.open(link, in: WireBrowser(desk.server.wire)).status == 200) }
            let form = try WireBrowser.form(try await desk.open(link), "recover")
            let other = WireBrowser(desk.server.wire)
            _ = try await desk.open(link, in: other)
            #expect(try await other.post(form.action, form.fields).status == 403)
            let step = try await desk.browser.post(form.action, form.fields)
            let address = try #require(step["Location"])
            #expect(try await other.get(address).status == 403)
            let state = try #require(address.split(separator: "/").last).description
            let classic = ClassicClient(desk.server)
            let body: [String: JSONValue] = ["stateToken": .string(state), "newPassword": .string(RecoveryBrowser.new)]
            try expectClassicRefusal(try await classic.post("/credentials/reset_password", .object(body)), 401, "E0000011")
            // The consumed token is invalid at the API.
            try expectClassicRefusal(try await classic.post("", ["token": .string(token)]), 401, "E0000004")
            #expect(try await desk.browser.get(address).body.contains("Choose a password"))
            // An unused mailed token is invalid at the API, too, and the rejection does not consume it.
            desk.server.clock.advance(by: 6)
            let fresh = try await Self.link(desk)
            try expectClassicRefusal(
                try await classic.post("", ["token": .string(String(fresh.split(separator: "/").last ?? ""))]), 401, "E0000004")
            #expect(try await desk.open(fresh).status == 200)
            // The new link has ended the activation that the earlier link began.
            #expect(try await desk.browser.get(address).status == 400)
            let id = try #require(try await desk.server.engine.user(login: PushOrganization.newcomer)?.id)
            let context = RequestContext(now: desk.server.clock.now, requestID: "test")
            let given = try #require(try await desk.server.engine.activationToken(forUser: id, context: context))
            #expect(try await desk.open(fresh).status == 400)
            // A state token of the API is invalid on the pages.
            let begun = try ClassicStatus(try await classic.post("", ["token": .string(given)]))
            #expect(begun.name == "PASSWORD_RESET")
            #expect(try await desk.browser.get("/signin/recover/\(begun.token ?? "")").status == 400)
        }
    }
}
