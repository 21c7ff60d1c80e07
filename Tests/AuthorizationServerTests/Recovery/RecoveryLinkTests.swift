import Foundation
import JOSE
import TestSupport
import Testing

@Suite("Recovery links")
struct RecoveryLinkTests {
    @Test("A recovery link sets a new password in any browser, once, and the old password becomes invalid")
    func setsPassword() async throws {
        try await RecoveryBrowser.with { desk in
            let link = try await desk.link()
            #expect(link.hasPrefix("/signin/reset-password/rt_"))
            let other = WireBrowser(desk.server.wire)
            let page = try await desk.open(link, in: other)
            #expect(page.body.contains("Continue to set a new password"))
            var next = try await other.submit(page, "recover")
            #expect(next.body.contains("Choose a new password") && next.body.contains("value=\"\(PushOrganization.jane)\""))
            #expect(!other.hasLink)
            next = try await desk.set("short", on: next, in: other)
            #expect(next.body.contains("Choose a different password:") && next.body.contains("aria-invalid"))
            next = try await desk.set(RecoveryBrowser.new, "Another-Horse-9", on: next, in: other)
            #expect(next.body.contains("The passwords do not match."))
            let asking = next
            next = try await desk.set(RecoveryBrowser.new, on: next, in: other)
            #expect(next.body.contains("Password changed") && next.body.contains("Go back to the application"))
            #expect(!next.body.contains("class=\"button\""))
            // The recovery starts no session.
            #expect(other.cookies["session"] == nil)
            // A repeated submission, for example after the back button, changes nothing.
            #expect(try await desk.set("Third-Horse-9", on: asking, in: other).body.contains("Password changed"))
            #expect(try await desk.code(PushOrganization.janesPassword) == nil)
            #expect(try await desk.code("Third-Horse-9") == nil)
            #expect(try await desk.code(RecoveryBrowser.new) != nil)
            #expect(try await desk.server.logged("user.account.reset_password") == 1)
        }
    }

    @Test("In the same browser, a recovery link leads back to the sign-in from which it was requested")
    func leadsBack() async throws {
        try await RecoveryBrowser.with { desk in
            let link = try await desk.link()
            var page = try await desk.browser.submit(try await desk.open(link), "recover")
            page = try await desk.set(RecoveryBrowser.new, on: page)
            let back = try #require(page.body.firstMatch(of: /class="button" href="([^"]*)"/)?.1)
            page = try await desk.browser.get(String(back))
            #expect(page.body.contains("value=\"\(PushOrganization.jane)\""))
            _ = try RecoveryBrowser.app.code(try await desk.browser.signIn(page, PushOrganization.jane, RecoveryBrowser.new))
        }
    }

    @Test("Opening a recovery link does not consume it, and a redirect removes its secret from the address")
    func opening() async throws {
        try await RecoveryBrowser.with { desk in
            let link = try await desk.link()
            let secret = try #require(link.split(separator: "/").last).description
            // Mail scanners open links with or without cookies, and submit no form.
            for _ in 1...3 {
                let answer = try await desk.server.wire.get(link)
                #expect(answer.status == 303 && answer["Location"]?.wholeMatch(of: /\/signin\/link\/[0-9A-Za-z_-]{16}\/recover/) != nil)
                #expect(answer["Cache-Control"] == "no-cache, no-store" && answer["Referrer-Policy"] == "no-referrer")
                let page = try await desk.open(link, in: WireBrowser(desk.server.wire))
                #expect(page.status == 200 && !page.body.contains(secret))
            }
            let browser = WireBrowser(desk.server.wire)
            let page = try await desk.open(link, in: browser)
            #expect(
                browser.setCookies.contains {
                    $0.hasPrefix("__Host-link-") && $0.hasSuffix("=\(secret); Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure")
                }, "\(browser.setCookies)")
            let taken = try await browser.submit(try await browser.get(try WireBrowser.form(page, "recover").action), "recover")
            #expect(taken.body.contains("Choose a new password"))
        }
    }

    @Test("Consumed, expired, forged and revoked recovery links show the same page and have no effect")
    func useless() async throws {
        try await RecoveryBrowser.with { desk in
            let used = try await desk.link()
            let page = try await desk.browser.submit(try await desk.open(used), "recover")
            let seen = RecoveryBrowser.look(try await desk.open(used))
            #expect(seen.hasPrefix("400 ") && seen.contains("This link is invalid or expired"))
            func look(_ link: String) async throws -> String {
                RecoveryBrowser.look(try await desk.open(link, in: WireBrowser(desk.server.wire)))
            }
            #expect(try await look(used) == seen)
            #expect(try await look("/signin/reset-password/rt_\(String(repeating: "a", count: 43))") == seen)
            #expect(try await look("/signin/unlock/x%22%3B") == seen)
            #expect(RecoveryBrowser.look(try await desk.server.wire.get("/signin/link/aaaaaaaaaaaaaaaa/recover")) == seen)
            // John's new password revokes his other open link.
            let john = try await desk.link(as: PushOrganization.john)
            desk.server.clock.advance(by: 60)
            let late = try await desk.link(as: PushOrganization.john)
            let other = WireBrowser(desk.server.wire)
            _ = try await desk.set(
                RecoveryBrowser.new, on: try await other.submit(try await desk.open(late, in: other), "recover"), in: other)
            #expect(try await look(john) == seen)
            #expect(try await desk.code(RecoveryBrowser.new, PushOrganization.john) != nil)
            // Jane's recovery is not affected.
            _ = try await desk.set(RecoveryBrowser.new, on: page)
            #expect(try await desk.code(RecoveryBrowser.new) != nil)
            desk.server.clock.advance(by: 60)
            let old = try await desk.link()
            let browser = WireBrowser(desk.server.wire)
            let form = try await desk.open(old, in: browser)
            desk.server.clock.advance(by: 3_600)
            let sent = try WireBrowser.form(form, "recover")
            #expect(RecoveryBrowser.look(try await browser.get(sent.action)) == seen)
            #expect(RecoveryBrowser.look(try await browser.post(sent.action, sent.fields)) == seen)
        }
    }

    @Test("A recovery link is accepted only from its form in the same browser, and the recovery continues only in that browser")
    func binding() async throws {
        try await RecoveryBrowser.with { desk in
            let link = try await desk.link()
            let form = try WireBrowser.form(try await desk.open(link), "recover")
            let other = WireBrowser(desk.server.wire)
            _ = try await desk.open(link, in: other)
            for token in [form.fields["form_token"], "", nil] {
                let answer = try await other.post(form.action, token.map { ["form_token": $0] } ?? [:])
                #expect(answer.status == 403)
            }
            let step = try await desk.browser.post(form.action, form.fields)
            let address = try #require(step["Location"])
            #expect(try await desk.browser.get(address).body.contains("Choose a new password"))
            #expect(try await other.get(address).status == 403)
            // The token of the page is not a state token of the API.
            let token = try #require(address.split(separator: "/").last).description
            let classic = ClassicClient(desk.server)
            for path in ["", "/credentials/reset_password", "/cancel"] {
                let answer = try await classic.post(path, ["stateToken": .string(token), "newPassword": .string(RecoveryBrowser.new)])
                #expect(answer.status == 401, "\(path) \(answer.body)")
            }
            // A state token of the API is not a token of a page.
            let api = try ClassicStatus(
                try await classic.post("/recovery/password", ["username": .string(PushOrganization.jane), "factorType": "SMS"]))
            let state = try #require(api.json["stateToken"]?.stringValue)
            #expect(try await desk.browser.get("/signin/recover/\(state)").status == 400)
        }
    }

    @Test("A recovery link is accepted only from its own form, even after the browser opened another link, and not by the API")
    func otherLink() async throws {
        try await RecoveryBrowser.with { desk in
            let janes = try await desk.link()
            let form = try WireBrowser.form(try await desk.open(janes), "recover")
            desk.server.clock.advance(by: 31)
            let johns = try await desk.link(as: PushOrganization.john)
            let other = try WireBrowser.form(try await desk.open(johns), "recover")
            // Each form belongs to one link: the server rejects a form at the address of another link.
            #expect(try await desk.browser.post(other.action, form.fields).status == 403)
            #expect(try await desk.browser.post(form.action, other.fields).status == 403)
            let classic = ClassicClient(desk.server)
            for link in [janes, johns] {
                let token = try #require(link.split(separator: "/").last).description
                try expectClassicRefusal(
                    try await classic.post("/recovery/token", ["recoveryToken": .string(token)]), 401, "E0000011")
            }
            let page = try await desk.browser.submit(try await desk.open(johns), "recover")
            #expect(page.body.contains("value=\"\(PushOrganization.john)\""))
        }
    }

    @Test("An unlock link unlocks the account once and keeps the user's password")
    func unlocks() async throws {
        try await RecoveryBrowser.with { desk in
            try await desk.lock()
            #expect(try await desk.code(PushOrganization.janesPassword) == nil)
            let link = try await desk.link(isUnlock: true)
            #expect(link.hasPrefix("/signin/unlock/rt_"))
            let page = try await desk.open(link)
            #expect(page.body.contains("Continue to unlock your account."))
            #expect(try await desk.code(PushOrganization.janesPassword) == nil)
            let done = try await desk.browser.submit(page, "recover")
            #expect(done.body.contains("Account unlocked"))
            #expect(try await desk.code(PushOrganization.janesPassword) != nil)
            #expect(try await desk.open(link).status == 400)
        }
    }
}
