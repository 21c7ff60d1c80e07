import Delivery
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Sent codes as the second factor on the hosted pages")
struct SentCodeTests {
    private static let app = WireRelyingParty.browserApp

    /// Signs in with the password, until the page asks for the second factor.
    private static func begin(_ browser: WireBrowser) async throws -> WireResponse {
        try await browser.signIn(try await app.begin(browser))
    }

    private static func choose(_ factor: String, _ page: WireResponse, _ browser: WireBrowser) async throws -> WireResponse {
        try await browser.submit(page, "factor", ["factor": factor])
    }

    private static func wrong(_ code: String) -> String { code == "000000" ? "000001" : "000000" }

    @Test(
        "For a code by SMS or call, the sign-in page masks the phone number and accepts the correct code after a wrong code",
        arguments: ["sms", "voice"])
    func telephone(factor: String) async throws {
        try await PushServer.with { server in
            try await server.give(factor == "sms" ? .sms : .voice, "+49 30 5550123")
            let browser = WireBrowser(server.wire)
            var page = try await Self.begin(browser)
            #expect(page.body.contains("+49 XXX-XXX-0123") && !page.body.contains("5550123"))
            #expect(server.messages.sent.isEmpty)
            page = try await Self.choose(factor, page, browser)
            let message = try #require(await server.messages.received())
            #expect(message.channel == (factor == "sms" ? .text : .call) && message.recipient == "+49305550123")
            let code = try #require(message.code)
            // The user submits the same choice again: no second message is sent.
            _ = try await Self.choose(factor, page, browser)
            #expect(page.body.contains("Enter the code") && !page.body.contains("Try another way") && !page.body.contains("<script"))
            page = try await browser.submit(page, "sent-code", ["code": Self.wrong(code)])
            #expect(page.body.contains("The code is wrong or expired.") && page.body.contains("aria-invalid"))
            let tokens = try await IssuedTokens(
                try await Self.app.exchange(
                    try Self.app.code(try await browser.submit(page, "sent-code", ["code": code])), server.wire),
                keysFrom: Self.app.base, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd", factor == "sms" ? "sms" : "tel", "mfa"])
            #expect(server.messages.sent.count == 1)
        }
    }

    @Test("The sign-in page sends a new SMS code only after 30 seconds, and the new code replaces the first code")
    func another() async throws {
        try await PushServer.with { server in
            try await server.give(.sms, "+49 30 5550123")
            let browser = WireBrowser(server.wire)
            var page = try await Self.choose("sms", try await Self.begin(browser), browser)
            let first = try #require(await server.messages.received()?.code)
            server.clock.advance(by: 10)
            page = try await Self.choose("sms", page, browser)
            #expect(page.body.contains("A message was sent moments ago.") && page.body.contains("Enter the code"))
            server.clock.advance(by: 21)
            page = try await Self.choose("sms", page, browser)
            #expect(!page.body.contains("role=\"alert\""))
            let second = try #require(await server.messages.received()?.code)
            if first != second {
                page = try await browser.submit(page, "sent-code", ["code": first])
                #expect(page.body.contains("The code is wrong or expired."))
            }
            _ = try Self.app.code(try await browser.submit(page, "sent-code", ["code": second]))
        }
    }

    @Test("Wrong SMS codes in several sign-ins count together, and a code that was sent for one sign-in is rejected in another sign-in")
    func attacks() async throws {
        var organization = PushOrganization()
        organization.passwordPolicy.lockoutAttempts = 50
        try await PushServer.with(organization) { server in
            try await server.give(.sms, "+49 30 5550123")
            let victim = WireBrowser(server.wire)
            let attacker = WireBrowser(server.wire)
            let own = try await Self.choose("sms", try await Self.begin(victim), victim)
            let code = try #require(await server.messages.received()?.code)
            // The attacker knows the password and has seen the victim's code, which is for the victim's sign-in.
            let stolen = try await Self.begin(attacker)
            let form = try WireBrowser.form(stolen, "factor")
            let step = form.action.replacing("/factor", with: "/sent-code")
            let answer = try await attacker.follow(try await attacker.post(step, form.fields.merging(["code": code]) { $1 }))
            #expect(answer.body.contains("Verify your identity"))
            server.clock.advance(by: 31)
            var page = try await Self.choose("sms", stolen, attacker)
            let second = try #require(await server.messages.received()?.code)
            for _ in 1...3 { page = try await attacker.submit(page, "sent-code", ["code": Self.wrong(second)]) }
            server.clock.advance(by: 31)
            let other = WireBrowser(server.wire)
            page = try await Self.choose("sms", try await Self.begin(other), other)
            let third = try #require(await server.messages.received()?.code)
            for _ in 1...2 { page = try await other.submit(page, "sent-code", ["code": Self.wrong(third)]) }
            page = try await other.submit(page, "sent-code", ["code": third])
            #expect(page.body.contains("Too many attempts."))
            // The first sign-in's code was replaced twice.
            let late = try WireBrowser.form(own, "sent-code")
            let refused = try await victim.follow(try await victim.post(late.action, late.fields.merging(["code": code]) { $1 }))
            #expect(refused["Location"] == nil && refused.body.contains("Verify your identity"))
        }
    }

    @Test("Requesting an SMS code withdraws a waiting push, and a push requested after the code still completes the sign-in")
    func besidePush() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            try await server.give(.sms, "+49 30 5550123")
            let browser = WireBrowser(server.wire)
            let choice = try await Self.begin(browser)
            let waiting = try await Self.choose("push", choice, browser)
            #expect(waiting.body.contains("Look at your device"))
            let page = try await Self.choose("sms", choice, browser)
            #expect(page.body.contains("Enter the code") && page.body.contains("Try another way"))
            #expect(!page.body.contains("role=\"alert\""))
            #expect(try await phone.waiting().isEmpty)
            let again = try await browser.submit(page, "choose-again")
            #expect(again.body.contains("Verify your identity"))
            let code = try #require(await server.messages.received()?.code)
            _ = try await Self.choose("push", again, browser)
            try await phone.approve()
            let address = try WireBrowser.form(again, "cancel").action.replacing("/cancel", with: "")
            _ = try Self.app.code(try await browser.get(address))
            let late = try WireBrowser.form(page, "sent-code")
            _ = try Self.app.code(
                try await browser.follow(try await browser.post(late.action, late.fields.merging(["code": code]) { $1 })))
        }
    }

    @Test("An SMS code expires after five minutes, and the sign-in page does not offer the security question as a second factor")
    func limits() async throws {
        try await PushServer.with { server in
            try await server.give(.sms, "+49 30 5550123")
            let context = RequestContext(now: server.clock.now, requestID: "question")
            let jane = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            _ = try #require(try await server.engine.grantQuestion("first_award", answer: "Swimming cup", userID: jane, context: context))
            let browser = WireBrowser(server.wire)
            let choice = try await Self.begin(browser)
            #expect(choice.body.matches(of: /name="factor" value="([a-z]+)"/).map { String($0.1) } == ["sms"])
            let page = try await Self.choose("sms", choice, browser)
            let code = try #require(await server.messages.received()?.code)
            server.clock.advance(by: 300)
            let late = try await browser.submit(page, "sent-code", ["code": code])
            #expect(late.body.contains("The code is wrong or expired.") && late.body.contains("Verify your identity"))
        }
    }
}
