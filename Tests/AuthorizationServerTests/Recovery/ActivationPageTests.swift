import AuthnAPI
import AuthorizationServer
import Foundation
import IdentityCore
import JOSE
import Testing

@Suite("Setting up an account on the pages, by the link of a mail")
struct ActivationPageTests {
    /// Mails the link to somebody who has no password, and reads it.
    private static func link(_ desk: RecoveryDesk, _ login: String = PushOrganization.newcomer) async throws -> String {
        let id = try #require(try await desk.server.engine.user(login: login)?.id)
        #expect(try await desk.server.running.server.welcome(userID: id))
        let mail = try #require(await desk.server.messages.received())
        #expect(mail.recipient == login && mail.text.contains("It is valid for 7 days and works once.") && mail.code == nil)
        return try #require(mail.link)
    }

    @Test("the first password is chosen by the rules, nobody is signed in by it, and the sign-in asks for what the policy wants")
    func firstPassword() async throws {
        try await RecoveryDesk.with { desk in
            let link = try await Self.link(desk)
            #expect(link.hasPrefix("/signin/set-up/at_"))
            var page = try await desk.open(link)
            #expect(page.status == 200 && page.body.contains("An account was created for you. Continue to set it up."))
            page = try await desk.browser.submit(page, "recover")
            #expect(page.body.contains("Choose a password") && page.body.contains("value=\"\(PushOrganization.newcomer)\""))
            #expect(page.body.contains("At least 8 characters") && !desk.browser.hasLink)
            page = try await desk.set("short", on: page)
            #expect(page.body.contains("Choose a different password:"))
            page = try await desk.set(RecoveryDesk.new, "Another-Horse-9", on: page)
            #expect(page.body.contains("The passwords do not match."))
            #expect(try await desk.server.engine.user(login: PushOrganization.newcomer)?.status == .staged)
            page = try await desk.set(RecoveryDesk.new, on: page)
            #expect(page.body.contains("Your account is set up") && page.body.contains("Go back to the application"))
            #expect(desk.browser.cookies["session"] == nil && !page.body.contains("class=\"button\""))
            #expect(try await desk.code(RecoveryDesk.new, PushOrganization.newcomer) != nil)
            let browser = WireBrowser(desk.server.wire)
            let asked = try await browser.signIn(
                try await WireRelyingParty.browserApp.begin(browser), PushOrganization.newcomer, RecoveryDesk.new)
            #expect(asked.body.contains("Set up an authenticator app"))
            #expect(try await desk.server.logged("user.lifecycle.activate") == 1)
            // There is nothing left to set up.
            #expect(try await desk.open(link).body.contains("This link is invalid or expired"))
            let id = try #require(try await desk.server.engine.user(login: PushOrganization.newcomer)?.id)
            #expect(try await !desk.server.running.server.welcome(userID: id))
            #expect(try await !desk.server.running.server.welcome(userID: "00unobody"))
        }
    }

    @Test("who was given a password keeps it, and signs in with it; one that is only to begin with is changed", arguments: [false, true])
    func givenPassword(isDue: Bool) async throws {
        try await RecoveryDesk.with { desk in
            let id = try #require(try await desk.server.engine.user(login: PushOrganization.newcomer)?.id)
            let context = RequestContext(now: desk.server.clock.now, requestID: "given")
            _ = try await desk.server.engine.setPassword(userID: id, to: RecoveryDesk.new, context: context)
            if isDue { _ = try await desk.server.engine.expirePassword(userID: id, context: context) }
            #expect(try await desk.code(RecoveryDesk.new, PushOrganization.newcomer) == nil)
            var page = try await desk.browser.submit(try await desk.open(try await Self.link(desk)), "recover")
            if isDue {
                #expect(page.body.contains("Choose a password"))
                page = try await desk.set("Chosen-Horse-9", on: page)
            }
            #expect(page.body.contains("Your account is set up") && desk.browser.cookies["session"] == nil)
            #expect(try await desk.code(RecoveryDesk.new, PushOrganization.newcomer) != nil || isDue)
            #expect(try await desk.code("Chosen-Horse-9", PushOrganization.newcomer) != nil || !isDue)
        }
    }

    @Test("to open the link takes nothing; its form does, once, in this browser, and what follows is worth nothing at the API")
    func binding() async throws {
        try await RecoveryDesk.with { desk in
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
            let body: [String: JSONValue] = ["stateToken": .string(state), "newPassword": .string(RecoveryDesk.new)]
            try expectClassicRefusal(try await classic.post("/credentials/reset_password", .object(body)), 401, "E0000011")
            // Taken, it begins nothing at the API either.
            try expectClassicRefusal(try await classic.post("", ["token": .string(token)]), 401, "E0000004")
            #expect(try await desk.browser.get(address).body.contains("Choose a password"))
            // Nor does one that is not taken: the API knows only tokens that were not mailed, and closes nothing by the refusal.
            desk.server.clock.advance(by: 6)
            let fresh = try await Self.link(desk)
            try expectClassicRefusal(
                try await classic.post("", ["token": .string(String(fresh.split(separator: "/").last ?? ""))]), 401, "E0000004")
            #expect(try await desk.open(fresh).status == 200)
            // What it has begun before that is over.
            #expect(try await desk.browser.get(address).status == 400)
            let id = try #require(try await desk.server.engine.user(login: PushOrganization.newcomer)?.id)
            let context = RequestContext(now: desk.server.clock.now, requestID: "test")
            let given = try #require(try await desk.server.engine.activationToken(forUser: id, context: context))
            #expect(try await desk.open(fresh).status == 400)
            // Of the API's own steps none goes on here.
            let begun = try ClassicStatus(try await classic.post("", ["token": .string(given)]))
            #expect(begun.name == "PASSWORD_RESET")
            #expect(try await desk.browser.get("/signin/recover/\(begun.token ?? "")").status == 400)
        }
    }
}
