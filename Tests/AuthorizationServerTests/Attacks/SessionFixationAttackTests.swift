import Foundation
import TestSupport
import Testing

/// An attacker who starts a sign-in with a PKCE challenge, plants the cookie `browser` of this sign-in in the victim's browser, and makes
/// the victim continue on its page. The attacker knows everything except the victim's input and the server's responses to it.
@Suite("Attacks: session fixation on the sign-in pages")
struct SessionFixationAttackTests {
    private static let app = WireRelyingParty.readingApp

    /// An attacker and a victim with the same cookies, on the same sign-in page.
    private struct Plot {
        let attacker: WireBrowser
        let victim: WireBrowser
        let page: WireResponse
        let address: String

        init(_ server: PushServer, _ app: WireRelyingParty) async throws {
            attacker = WireBrowser(server.wire)
            page = try await app.begin(attacker)
            address = try WireBrowser.form(page, "cancel").action.replacing("/cancel", with: "")
            victim = WireBrowser(server.wire)
            victim.cookies = attacker.cookies
        }
    }

    private static func password(_ page: WireResponse, _ password: String = PushOrganization.janesPassword) throws
        -> (action: String, fields: [String: String])
    {
        var form = try WireBrowser.form(page, "password")
        form.fields["username"] = PushOrganization.jane
        form.fields["password"] = password
        return form
    }

    @Test("An attacker who planted the browser cookie gets no authorization code after the victim signs in on the attacker's page")
    func plantedCookie() async throws {
        try await PushServer.with { server in
            let plot = try await Plot(server, Self.app)
            let form = try Self.password(plot.page)
            let step = try await plot.victim.post(form.action, form.fields)
            #expect(step.status == 303)
            // The attacker tries before the victim's browser follows the redirect, and after it.
            for _ in 1...2 {
                let stolen = try await plot.attacker.get(plot.address)
                #expect(stolen.status == 403 && stolen["Location"] == nil && stolen["Set-Cookie"] == nil, "\(stolen.status) \(stolen.body)")
                _ = try Self.app.code(try await plot.victim.follow(step))
            }
            #expect(plot.attacker.cookies["session"] == nil)
        }
    }

    @Test("An attacker who planted the browser cookie can neither see nor use the steps after the victim's password")
    func laterSteps() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let app = WireRelyingParty.browserApp
            let plot = try await Plot(server, app)
            let choice = try await plot.victim.signIn(plot.page)
            #expect(choice.body.contains("Verify your identity"))
            #expect(try await plot.attacker.get(plot.address).status == 403)
            #expect(try await plot.attacker.get("\(plot.address)/events").body == #"{"waiting":false}"#)
            let known = try WireBrowser.form(plot.page, "password").fields
            for (step, fields) in [("factor", ["factor": "push"]), ("code", ["code": "123456"]), ("cancel", [:]), ("restart", [:])] {
                let answer = try await plot.attacker.post("\(plot.address)/\(step)", known.merging(fields) { $1 })
                #expect(answer.status == 403, "\(step)")
            }
            #expect(try await phone.waiting().isEmpty)
            _ = try await plot.victim.submit(choice, "factor", ["factor": "push"])
            try await phone.approve()
            #expect(try await plot.attacker.get(plot.address).status == 403)
            _ = try app.code(try await plot.victim.get(plot.address))
        }
    }

    @Test("An attacker's password guesses on the planted sign-in page do not affect the victim's sign-in, and count towards the lockout")
    func guesses() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let plot = try await Plot(server, WireRelyingParty.browserApp)
            let choice = try await plot.victim.signIn(plot.page)
            let guess = try Self.password(plot.page, "Wrong-Horse-7")
            for _ in 1...5 { #expect(try await plot.attacker.post(guess.action, guess.fields).status == 403) }
            #expect(try await server.logged("user.account.lock") == 1)
            // The attacker's own account gives no access to the victim's sign-in.
            var own = try Self.password(plot.page, PushOrganization.johnsPassword)
            own.fields["username"] = PushOrganization.john
            #expect(try await plot.attacker.post(own.action, own.fields).status == 403)
            let page = try await plot.victim.get(plot.address)
            #expect(page.body.contains("Verify your identity") && !page.body.contains("role=\"alert\""), "\(page.status) \(page.body)")
            #expect(choice.status == 200)
        }
    }

    @Test("A browser that lost the response to its password gets an authorization code by submitting the password again")
    func lostAnswer() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            let page = try await Self.app.begin(browser)
            let before = browser.cookies
            let form = try Self.password(page)
            for _ in 1...3 {
                browser.cookies = before
                #expect(try await browser.post(form.action, form.fields).status == 303)
            }
            let code = try Self.app.code(try await browser.get(form.action.replacing("/password", with: "")))
            #expect(try await Self.app.exchange(code, server.wire).status == 200)
        }
    }

    @Test("An attacker with the browser cookie and the password gains nothing from the second factor that the victim proves")
    func knownPassword() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let app = WireRelyingParty.browserApp
            let plot = try await Plot(server, app)
            let known = try Self.password(plot.page)
            let waiting = try await plot.victim.submit(try await plot.victim.signIn(plot.page), "factor", ["factor": "push"])
            #expect(waiting.body.contains("/events\""))
            // The attacker tries while the push is pending, after its approval, and after the code was issued.
            #expect(try await plot.attacker.post(known.action, known.fields).status == 403)
            try await phone.approve()
            #expect(try await plot.attacker.post(known.action, known.fields).status == 403)
            _ = try app.code(try await plot.victim.get(plot.address))
            #expect(try await plot.attacker.post(known.action, known.fields).status == 403)
            #expect(try await plot.attacker.get(plot.address).status == 403)
            #expect(plot.attacker.cookies["session"] == nil)
        }
    }

    @Test("If the victim and an attacker both submit the password, only the browser that submitted it last continues to the second factor")
    func latestPassword() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let plot = try await Plot(server, WireRelyingParty.browserApp)
            let known = try Self.password(plot.page)
            let choice = try await plot.victim.signIn(plot.page)
            #expect(try await plot.attacker.post(known.action, known.fields).status == 303)
            // The victim's browser cannot request a push whose approval the attacker could use.
            let form = try WireBrowser.form(choice, "factor")
            #expect(try await plot.victim.post(form.action, form.fields.merging(["factor": "push"]) { $1 }).status == 403)
            #expect(try await plot.victim.get(plot.address).status == 403)
            #expect(try await phone.waiting().isEmpty)
            // The attacker's browser was last, so it continues.
            let last = try await plot.attacker.get(plot.address)
            #expect(last.status == 200 && last.body.contains("Verify your identity"), "\(last.status) \(last.body)")
            _ = try await plot.attacker.submit(last, "factor", ["factor": "push"])
            #expect(try await phone.waiting().count == 1)
        }
    }

    @Test("The first request of a double click does not replace the second request, even if the server answers the first request last")
    func overtakenRequest() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let browser = WireBrowser(server.wire)
            let page = try await WireRelyingParty.browserApp.begin(browser)
            let before = browser.cookies
            let form = try Self.password(page)
            server.clock.advance(by: 0.2)
            let later = try await browser.post(form.action, form.fields)
            let kept = browser.cookies
            // The first request arrived earlier, but its password is checked only now.
            server.clock.advance(by: -0.1)
            browser.cookies = before
            let first = try await browser.post(form.action, form.fields)
            #expect(first.status == 303)
            #expect(first["Set-Cookie"] == nil)
            server.clock.advance(by: 0.1)
            browser.cookies = kept
            #expect(try await browser.follow(later).body.contains("Verify your identity"))
        }
    }

    @Test("An attacker who submits the password after the victim's sign-in gets no session of the victim")
    func earlierSession() async throws {
        try await PushServer.with { server in
            let plot = try await Plot(server, Self.app)
            let known = try Self.password(plot.page)
            _ = try Self.app.code(try await plot.victim.signIn(plot.page))
            #expect(try await plot.attacker.post(known.action, known.fields).status == 403)
            #expect(try await plot.attacker.get(plot.address).status == 403)
            #expect(plot.attacker.cookies["session"] == nil)
        }
    }

    @Test("An attacker who knows the recovery code cannot continue after the victim answered the security question")
    func knownCode() async throws {
        try await RecoveryBrowser.with { desk in
            try await desk.giveQuestion()
            let page = try await desk.ask("sms")
            let code = try #require(await desk.server.messages.received()?.code)
            let form = try WireBrowser.form(page, "code")
            let victim = WireBrowser(desk.server.wire)
            victim.cookies = desk.browser.cookies
            let question = try await victim.submit(page, "code", ["code": code])
            let next = try await victim.submit(question, "answer", ["answer": "Swimming cup"])
            #expect(next.body.contains("Choose a new password"))
            #expect(try await desk.browser.post(form.action, form.fields.merging(["code": code]) { $1 }).status == 403)
            #expect(try await desk.set(RecoveryBrowser.new, on: next, in: victim).body.contains("Password changed"))
        }
    }

    @Test("A browser that submitted the password form twice continues with the cookies of either response")
    func doubleClick() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            let page = try await Self.app.begin(browser)
            let before = browser.cookies
            let form = try Self.password(page)
            _ = try await browser.post(form.action, form.fields)
            let first = browser.cookies
            browser.cookies = before
            _ = try await browser.post(form.action, form.fields)
            let address = form.action.replacing("/password", with: "")
            for cookies in [browser.cookies, first] {
                browser.cookies = cookies
                _ = try Self.app.code(try await browser.get(address))
            }
        }
    }

    @Test("A browser that submits the password form several times concurrently continues with any of the responses")
    func atOnce() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            let form = try Self.password(try await Self.app.begin(browser))
            let (wire, cookie) = (server.wire, browser.cookieHeader)
            let answers = try await withThrowingTaskGroup(of: WireResponse.self) { group in
                for _ in 1...3 {
                    group.addTask { try await wire.post(form.action, Form.encode(form.fields), headers: [("Cookie", cookie)]) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for answer in answers {
                let given = try #require(answer["Set-Cookie"]?.split(separator: ";").first, "\(answer.status) \(answer.body)")
                let address = form.action.replacing("/password", with: "")
                _ = try Self.app.code(try await wire.get(address, headers: [("Cookie", "\(cookie); \(given)")]))
            }
        }
    }

    @Test("When the sign-in in one browser tab finishes, the sign-ins in other tabs can continue")
    func tabs() async throws {
        try await PushServer.with { server in
            _ = try await server.enroll()
            let browser = WireBrowser(server.wire)
            let waiting = try await browser.signIn(try await WireRelyingParty.browserApp.begin(browser))
            let other = try await Self.app.begin(browser)
            let third = try await Self.app.begin(browser)
            _ = try Self.app.code(try await browser.signIn(other))
            _ = try Self.app.code(try await browser.signIn(third))
            #expect(waiting.body.contains("Verify your identity"))
            let pushed = try await browser.submit(waiting, "factor", ["factor": "push"])
            #expect(pushed.body.contains("/events\""))
        }
    }

    @Test("A browser that signs in many times keeps at most eight sign-in cookies")
    func boundedCookies() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            for _ in 1...12 { _ = try Self.app.code(try await browser.signIn(try await Self.app.begin(browser, ["prompt": "login"]))) }
            #expect(browser.cookies.keys.count { $0.hasPrefix("signin-") } <= 8)
        }
    }

    @Test("An attacker who planted the browser cookie can't set the password after the victim entered the recovery code")
    func recovery() async throws {
        try await RecoveryBrowser.with { desk in
            let page = try await desk.ask("sms")
            let code = try #require(await desk.server.messages.received()?.code)
            let form = try WireBrowser.form(page, "code")
            let address = form.action.replacing("/code", with: "")
            let victim = WireBrowser(desk.server.wire)
            victim.cookies = desk.browser.cookies
            let step = try await victim.post(form.action, form.fields.merging(["code": code]) { $1 })
            #expect(try await desk.browser.get(address).status == 403)
            let stolen = try await desk.browser.post(
                "\(address)/new-password", form.fields.merging(["password": "Stolen-Horse-9", "repeated": "Stolen-Horse-9"]) { $1 })
            #expect(stolen.status == 403)
            // Wrong and correct codes are refused too.
            for guess in 0..<5 {
                let wrong = code == "00000\(guess)" ? "999999" : "00000\(guess)"
                #expect(try await desk.browser.post(form.action, form.fields.merging(["code": wrong]) { $1 }).status == 403)
            }
            #expect(try await desk.browser.post(form.action, form.fields.merging(["code": code]) { $1 }).status == 403)
            let next = try await victim.follow(step)
            #expect(next.body.contains("Choose a new password"))
            #expect(try await desk.set(RecoveryBrowser.new, on: next, in: victim).body.contains("Password changed"))
            #expect(try await desk.code(RecoveryBrowser.new) != nil)
        }
    }

    @Test("A browser that submitted the recovery code twice, or lost the response, continues the recovery")
    func recoveryTwice() async throws {
        try await RecoveryBrowser.with { desk in
            let page = try await desk.ask("sms")
            let code = try #require(await desk.server.messages.received()?.code)
            let form = try WireBrowser.form(page, "code")
            let before = desk.browser.cookies
            for _ in 1...2 {
                desk.browser.cookies = before
                let next = try await desk.browser.follow(
                    try await desk.browser.post(form.action, form.fields.merging(["code": code]) { $1 }))
                #expect(next.body.contains("Choose a new password"), "\(next.status) \(next.body)")
            }
            // The user goes back and submits the form once more, with the cookie.
            let again = try await desk.browser.follow(
                try await desk.browser.post(form.action, form.fields.merging(["code": code]) { $1 }))
            #expect(again.body.contains("Choose a new password"))
            #expect(try await desk.set(RecoveryBrowser.new, on: again).body.contains("Password changed"))
        }
    }

    @Test("A browser can repeat a correct recovery code three times without an error message, and the next repetition is rejected")
    func recoveryRepeats() async throws {
        try await RecoveryBrowser.with { desk in
            let page = try await desk.ask("sms")
            let code = try #require(await desk.server.messages.received()?.code)
            let form = try WireBrowser.form(page, "code")
            let before = desk.browser.cookies
            func send(_ code: String) async throws -> WireResponse {
                desk.browser.cookies = before
                let answer = try await desk.browser.post(form.action, form.fields.merging(["code": code]) { $1 })
                return try await desk.browser.follow(answer)
            }
            #expect(try await send(code == "000000" ? "000001" : "000000").body.contains("The code is wrong or expired."))
            for _ in 0...3 {
                let next = try await send(code)
                #expect(next.body.contains("Choose a new password") && !next.body.contains("role=\"alert\""), "\(next.body)")
            }
            #expect(try await send(code).status == 403)
        }
    }

    @Test("An attacker who planted the browser cookie cannot continue a recovery after the victim opened the mailed link")
    func recoveryLink() async throws {
        try await RecoveryBrowser.with { desk in
            let link = try await desk.link()
            let victim = WireBrowser(desk.server.wire)
            victim.cookies = desk.browser.cookies
            let form = try WireBrowser.form(try await desk.open(link, in: victim), "recover")
            let step = try await victim.post(form.action, form.fields)
            let address = try #require(step["Location"])
            #expect(try await desk.browser.get(address).status == 403)
            let stolen = try await desk.browser.post(
                "\(address)/new-password", form.fields.merging(["password": "Stolen-Horse-9", "repeated": "Stolen-Horse-9"]) { $1 })
            #expect(stolen.status == 403)
            let page = try await victim.follow(step)
            #expect(page.body.contains("Choose a new password"))
            // Without its new secret, the victim's browser is refused too.
            let proved = victim.cookies
            victim.cookies = proved.filter { !$0.key.hasPrefix("signin-") }
            #expect(try await victim.get(address).status == 403)
            victim.cookies = proved
            #expect(try await desk.set(RecoveryBrowser.new, on: page, in: victim).body.contains("Password changed"))
            #expect(try await desk.code(RecoveryBrowser.new) != nil)
        }
    }
}
