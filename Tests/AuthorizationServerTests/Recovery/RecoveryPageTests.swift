import Delivery
import Foundation
import IdentityCore
import TestSupport
import Testing

@Suite("Recovery pages")
struct RecoveryPageTests {
    @Test("After a recovery code by text message and the security answer, the user sets a new password and returns to the sign-in")
    func byText() async throws {
        try await RecoveryBrowser.with { desk in
            try await desk.giveQuestion()
            var page = try await desk.ask("sms", isUnlock: false, ["ui_locales": "de"])
            #expect(page.body.contains("lang=\"de\"") && page.body.contains("haben wir eine SMS mit einem Code dorthin gesendet"))
            let first = try #require(await desk.server.messages.received()?.code)
            page = try await desk.browser.submit(page, "code", ["code": first == "000000" ? "000001" : "000000"])
            #expect(page.body.contains("Der Code ist falsch oder abgelaufen.") && page.body.contains("aria-invalid"))
            page = try await desk.browser.submit(page, "resend")
            #expect(page.body.contains("Warten Sie 30 Sekunden"))
            desk.server.clock.advance(by: 31)
            page = try await desk.browser.submit(page, "resend")
            #expect(!page.body.contains("role=\"alert\""))
            let second = try #require(await desk.server.messages.received()?.code)
            page = try await desk.browser.submit(page, "code", ["code": second])
            #expect(page.body.contains("Was war der erste Preis, den Sie gewonnen haben?"))
            page = try await desk.browser.submit(page, "answer", ["answer": "Chess cup"])
            #expect(page.body.contains("Die Antwort ist falsch"))
            page = try await desk.browser.submit(page, "answer", ["answer": " swimming  CUP "])
            #expect(page.body.contains("Neues Passwort wählen") && page.body.contains("autocomplete=\"new-password\""))
            page = try await desk.set(RecoveryBrowser.new, on: page)
            #expect(page.body.contains("Passwort geändert"))
            let back = try #require(page.body.firstMatch(of: /class="button" href="(\/signin\/[0-9A-Za-z]+)"/)?.1)
            let signIn = try await desk.browser.get(String(back))
            _ = try RecoveryBrowser.app.code(try await desk.browser.signIn(signIn, PushOrganization.jane, RecoveryBrowser.new))
        }
    }

    @Test("After an error about mismatched passwords, the recovery page confirms a new password without showing the error again")
    func mismatchThenSuccess() async throws {
        try await RecoveryBrowser.with { desk in
            var page = try await desk.ask("sms")
            let code = try #require(await desk.server.messages.received()?.code)
            page = try await desk.browser.submit(page, "code", ["code": code])
            page = try await desk.set(RecoveryBrowser.new, "Different-Horse-9", on: page)
            #expect(page.body.contains("The passwords do not match") && page.body.contains("<title>Problem: "))
            page = try await desk.set(RecoveryBrowser.new, on: page)
            #expect(page.body.contains("Password changed"))
            #expect(!page.body.contains("role=\"alert\"") && !page.body.contains("Problem: "), "\(page.body)")
        }
    }

    @Test("The recovery and sign-in pages show a wait notice until another message can be requested")
    func waiting() async throws {
        try await RecoveryBrowser.with { desk in
            let code = try await desk.ask("sms")
            let again = try await desk.browser.submit(code, "resend")
            let notice = "A message was sent moments ago."
            #expect(again.body.contains(notice))
            let address = try WireBrowser.form(again, "code").action.replacing("/code", with: "")
            let form = try await desk.form()
            let soon = try await desk.browser.submit(form, "forgot", ["username": PushOrganization.jane, "channel": "sms"])
            #expect(soon.body.contains(notice))
            let signIn = try WireBrowser.form(soon, "forgot").action.replacing("/forgot", with: "")
            #expect(try await desk.browser.get(signIn).body.contains(notice))
            desk.server.clock.advance(by: 29)
            #expect(try await desk.browser.get(signIn).body.contains(notice))
            #expect(try await desk.browser.get(address).body.contains(notice))
            desk.server.clock.advance(by: 1)
            for page in [address, signIn, signIn + "/forgot"] {
                let body = try await desk.browser.get(page).body
                #expect(body.contains("</form>") && !body.contains("role=\"alert\""), "\(page)")
            }
        }
    }

    @Test("A recovery code from a call unlocks the account and keeps the user's password")
    func byCall() async throws {
        try await RecoveryBrowser.with { desk in
            try await desk.lock()
            var page = try await desk.ask("call", isUnlock: true)
            #expect(page.body.contains("you will get a call with a code") && page.body.contains("Call again"))
            let call = try #require(await desk.server.messages.received())
            #expect(call.channel == .call)
            page = try await desk.browser.submit(page, "code", ["code": try #require(call.code)])
            #expect(page.body.contains("Account unlocked") && page.body.contains("Go to sign-in"))
            #expect(try await desk.code(PushOrganization.janesPassword) != nil)
        }
    }

    @Test(
        "Recovery pages, limits and outcomes are the same for known, suspended and unknown user names", arguments: ["sms", "call", "email"])
    func enumeration(channel: String) async throws {
        try await RecoveryBrowser.with { desk in
            var looks: [[String]] = []
            // The names are those of a user with a phone number and an address, a user without both, a suspended user, and no user.
            for login in [PushOrganization.jane, PushOrganization.john, "suspended@example.com", "unknown@example.com"] {
                let desk = RecoveryBrowser(server: desk.server, browser: WireBrowser(desk.server.wire))
                func look(_ page: WireResponse) -> String { RecoveryBrowser.look(page, without: login) }
                var seen: [String] = []
                var page = try await desk.ask(channel, as: login)
                seen.append(look(page))
                // The interval before another message has not passed.
                let soon = try await desk.ask(channel, as: login)
                #expect(soon.body.contains("A message was sent moments ago."))
                seen.append(look(soon))
                if channel != "email" {
                    page = try await desk.browser.submit(page, "resend")
                    seen.append(look(page))
                    for _ in 1...4 {
                        page = try await desk.browser.submit(page, "code", ["code": "12345"])
                        seen.append(look(page))
                    }
                    let form = try WireBrowser.form(page, "code")
                    let last = try await desk.browser.post(form.action, form.fields.merging(["code": "12345"]) { $1 })
                    seen.append(look(try await desk.browser.follow(last)))
                    #expect(seen.last?.hasPrefix("400 ") == true)
                }
                looks.append(seen)
            }
            #expect(looks.dropFirst().allSatisfy { $0 == looks[0] })
        }
    }

    @Test("Wrong recovery codes count across recoveries, and at the limit the server rejects even the correct code")
    func bruteForce() async throws {
        try await RecoveryBrowser.with { desk in
            for wrong in [3, 2] {
                var page = try await desk.ask("sms")
                let code = try #require(await desk.server.messages.received()?.code)
                for _ in 1...wrong {
                    page = try await desk.browser.submit(page, "code", ["code": code == "000000" ? "000001" : "000000"])
                    #expect(page.body.contains("The code is wrong or expired."))
                }
                if wrong == 2 {
                    page = try await desk.browser.submit(page, "code", ["code": code])
                    #expect(page.body.contains("The code is wrong or expired."))
                }
                desk.server.clock.advance(by: 31)
            }
            // The server sends no further message, and the page does not reveal that.
            let page = try await desk.ask("sms")
            #expect(page.body.contains("Enter the code"))
            #expect(desk.server.messages.sent.count == 2)
        }
    }

    @Test("Too many wrong security answers lock the account and end the recovery")
    func guessedAnswer() async throws {
        try await RecoveryBrowser.with { desk in
            try await desk.giveQuestion()
            var page = try await desk.browser.submit(try await desk.open(try await desk.link()), "recover")
            for _ in 1...4 {
                page = try await desk.browser.submit(page, "answer", ["answer": "Chess cup"])
                #expect(page.body.contains("The answer is wrong."))
            }
            let form = try WireBrowser.form(page, "answer")
            let last = try await desk.browser.post(form.action, form.fields.merging(["answer": "Chess cup"]) { $1 })
            #expect(try await desk.browser.follow(last).status == 400)
            let late = try await desk.browser.post(form.action, form.fields.merging(["answer": "Swimming cup"]) { $1 })
            #expect(try await desk.browser.follow(late).status == 400)
            #expect(try await desk.server.engine.user(login: PushOrganization.jane)?.lockedAt != nil)
        }
    }

    @Test("No recovery step can be skipped, and forms of other sites or browsers are rejected")
    func order() async throws {
        try await RecoveryBrowser.with { desk in
            let page = try await desk.ask("sms")
            let form = try WireBrowser.form(page, "code")
            let base = form.action.replacing("/code", with: "")
            let fields = form.fields.merging(["password": RecoveryBrowser.new, "repeated": RecoveryBrowser.new, "answer": "x"]) { $1 }
            for step in ["new-password", "answer"] {
                let answer = try await desk.browser.follow(try await desk.browser.post("\(base)/\(step)", fields))
                #expect(answer.body.contains("Enter the code"))
            }
            #expect(try await desk.browser.post("\(base)/elsewhere", fields).status == 404)
            #expect(try await desk.code(RecoveryBrowser.new) == nil)
            let other = WireBrowser(desk.server.wire)
            _ = try await RecoveryBrowser.app.begin(other)
            let code = try #require(await desk.server.messages.received()?.code)
            #expect(try await other.post("\(base)/code", form.fields.merging(["code": code]) { $1 }).status == 403)
            #expect(try await desk.browser.post("\(base)/code", ["code": code]).status == 403)
            // The form that begins a recovery is protected as well.
            let begin = try WireBrowser.form(try await desk.form(), "forgot")
            let sent = ["username": PushOrganization.john, "channel": "email"]
            #expect(try await desk.browser.post(begin.action, sent).status == 403)
            #expect(try await other.post(begin.action, begin.fields.merging(sent) { $1 }).status == 403)
            #expect(desk.server.messages.sent.count == 1)
        }
    }

    @Test("Recovery pages link only to this server, whatever return address a request names")
    func wayBack() async throws {
        try await RecoveryBrowser.with { desk in
            let form = try await desk.form()
            let address = try WireBrowser.form(form, "forgot").action
            for evil in ["https://evil.example.com", "//evil.example.com"] {
                let query = "?back=\(Form.escape(evil))&fromURI=\(Form.escape(evil))&redirect_uri=\(Form.escape(evil))"
                let page = try await desk.browser.get(address + query)
                #expect(page.status == 200 && !page.body.contains("evil"))
                let next = try await desk.browser.post(
                    address + query,
                    try WireBrowser.form(page, "forgot").fields.merging(
                        ["username": PushOrganization.jane, "channel": "email", "back": evil, "signIn": evil]
                    ) { $1 })
                #expect(next["Location"]?.wholeMatch(of: /\/signin\/[0-9A-Za-z]+\/forgot(-mailed)?/) != nil)
                let mailed = try await desk.browser.follow(next)
                #expect(mailed.body.matches(of: /href="([^"]*)"/).allSatisfy { $0.1.hasPrefix("/signin/") })
            }
        }
    }

    @Test("Recovery pages forbid scripts, framing, other sources, caching and referrers")
    func headers() async throws {
        try await RecoveryBrowser.with { desk in
            let mailed = try await desk.ask("email")
            let link = try #require(await desk.server.messages.received()?.link)
            let linked = try await desk.open(link)
            let asked = try await desk.ask("sms")
            let code = try #require(await desk.server.messages.received()?.code)
            let reset = try await desk.browser.submit(asked, "code", ["code": code])
            let form = try await desk.form()
            let done = try await desk.set(RecoveryBrowser.new, on: reset)
            let useless = try await desk.open(link)
            for page in [mailed, linked, asked, reset, form, done, useless] {
                #expect(page["Content-Security-Policy"]?.contains("frame-ancestors 'none'") == true)
                #expect(
                    page["Content-Security-Policy"]?.contains("default-src 'none'; style-src 'self'; img-src 'self'; form-action") == true)
                #expect(page["X-Frame-Options"] == "DENY" && page["Referrer-Policy"] == "no-referrer")
                #expect(page["Cache-Control"] == "no-cache, no-store")
                #expect(!page.body.contains("<script"))
            }
            #expect(useless.status == 400)
        }
    }

    @Test("Recovery is offered only for the methods that the policy allows")
    func policy() async throws {
        for (policy, links) in [
            (nil, []), (ClassicPolicy(signOnPolicy: "one factor"), []),
            (ClassicPolicy(signOnPolicy: "one factor", recovery: [.email]), ["forgot"]),
        ] as [(ClassicPolicy?, [String])] {
            try await PushServer.with(PushOrganization(classic: policy)) { server in
                let browser = WireBrowser(server.wire)
                let page = try await RecoveryBrowser.app.begin(browser)
                #expect(page.body.matches(of: /<a href="[^"]*\/([a-z]+)"/).map { String($0.1) } == links)
                let address = try WireBrowser.form(page, "password").action.replacing("/password", with: "")
                for path in ["forgot", "unlock", "forgot-mailed", "unlock-mailed"] where !links.contains(where: { path.hasPrefix($0) }) {
                    #expect(try await browser.get("\(address)/\(path)")["Location"] == address)
                    guard !path.hasSuffix("mailed") else { continue }
                    let fields = try WireBrowser.form(page, "password").fields
                    let sent = fields.merging(["username": PushOrganization.jane, "channel": "email"]) { $1 }
                    #expect(try await browser.post("\(address)/\(path)", sent)["Location"] == address)
                }
                if !links.isEmpty {
                    let form = try await browser.get("\(address)/forgot")
                    #expect(form.body.contains("value=\"email\"") && !form.body.contains("value=\"sms\""))
                    // A request for a channel that the policy does not allow sends nothing and looks the same.
                    let text = try await browser.submit(form, "forgot", ["username": PushOrganization.jane, "channel": "sms"])
                    #expect(text.body.contains("Enter the code"))
                }
                #expect(server.messages.sent.isEmpty)
            }
        }
    }

    @Test("Too many recovery attempts show the same notice for known and unknown user names", .onOneServer)
    func limited() async throws {
        var organization = PushOrganization(classic: RecoveryBrowser.policy)
        organization.rateLimits.perUser = 2
        try await PushServer.with(organization) { (server) async throws in
            for login in [PushOrganization.jane, "unknown@example.com"] {
                let desk = RecoveryBrowser(server: server, browser: WireBrowser(server.wire))
                for _ in 1...2 {
                    #expect(try await desk.ask("email", as: login).body.contains("Check your email"))
                    server.clock.advance(by: 6)
                }
                #expect(try await desk.ask("email", as: login).body.contains("Too many attempts."))
            }
        }
    }
}
