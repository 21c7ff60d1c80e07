import Delivery
import Foundation
import IdentityCore
import JOSE
import Testing

@Suite("Telephone and mailbox setup on the hosted pages")
struct NumberEnrollmentTests {
    private static let app = WireRelyingParty.browserApp
    private static let policy = ClassicPolicy(
        signOnPolicy: "one factor", factors: [.sms: .optional, .call: .optional, .email: .optional, .question: .optional])

    private static func with(
        _ policy: ClassicPolicy? = policy, _ change: (inout PushOrganization) -> Void = { _ in },
        _ body: @Sendable (PushServer, WireBrowser, WireResponse) async throws -> Void
    ) async throws {
        var organization = PushOrganization(classic: policy)
        change(&organization)
        try await PushServer.with(organization) { server in
            let browser = WireBrowser(server.wire)
            try await body(server, browser, try await browser.signIn(try await app.begin(browser)))
        }
    }

    private static func offered(_ page: WireResponse) -> [String] {
        page.body.matches(of: /name="choice" value="([^"]+)"/).map { String($0.1) }
    }

    @Test("The factor setup page offers the factors that the policy allows, and no security question", arguments: [true, false])
    func offers(enrollsPhones: Bool) async throws {
        try await Self.with(Self.policy) {
            $0.enrollsByTicket = enrollsPhones
        } _: { _, _, page in
            #expect(page.body.contains("Set up a second factor"))
            #expect(Self.offered(page) == ["sms", "voice", "email"])
            #expect(page.body.contains("/enroll\"") && page.body.contains("/enroll-phone\"") == enrollsPhones)
        }
        try await Self.with(ClassicPolicy(signOnPolicy: "one factor", factors: [.totp: .notAllowed, .email: .optional])) { _, _, page in
            #expect(Self.offered(page) == ["email"] && !page.body.contains("/enroll\""))
        }
        try await Self.with(nil) { _, _, page in #expect(Self.offered(page).isEmpty && page.body.contains("/enroll\"")) }
    }

    @Test(
        "A user sets up a telephone with its number and a code sent to that number, and is then signed in with two factors",
        arguments: ["sms", "voice"])
    func telephone(channel: String) async throws {
        try await Self.with { server, browser, offer in
            var page = try await browser.submit(offer, "set-up", ["choice": channel])
            #expect(page.body.contains("Enter your number") && page.body.contains("autocomplete=\"tel\""))
            page = try await browser.submit(page, "number", ["number": "030 5550123"])
            #expect(page.body.contains("This is not a valid phone number.") && page.body.contains("aria-invalid"))
            #expect(server.messages.sent.isEmpty)
            page = try await browser.submit(page, "number", ["number": "+49 (30) 555-0123"])
            let message = try #require(await server.messages.received())
            #expect(message.recipient == "+49305550123" && message.channel == (channel == "sms" ? .text : .call))
            #expect(page.body.contains("+49 XXX-XXX-0123") && !page.body.contains("5550123"))
            let code = try #require(message.code)
            page = try await browser.submit(page, "number")
            #expect(page.body.contains("A message was sent moments ago."))
            page = try await browser.submit(page, "confirm", ["code": code == "000000" ? "000001" : "000000"])
            #expect(page.body.contains("The code is wrong or expired."))
            let answer = try Self.app.code(try await browser.submit(page, "confirm", ["code": code]))
            let tokens = try await IssuedTokens(try await Self.app.exchange(answer, server.wire), keysFrom: Self.app.base, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd", channel == "sms" ? "sms" : "tel", "mfa"])
            let other = WireBrowser(server.wire)
            let again = try await other.signIn(try await Self.app.begin(other))
            #expect(again.body.contains("Verify your identity") && !again.body.contains("set-up"))
        }
    }

    @Test("A user sets up a mailbox as a factor with a code that is sent to the mailbox")
    func mailbox() async throws {
        try await Self.with { server, browser, offer in
            let page = try await browser.submit(offer, "set-up", ["choice": "email"])
            #expect(page.body.contains("j...e@example.com"))
            let code = try #require(await server.messages.received()?.code)
            _ = try Self.app.code(try await browser.submit(page, "confirm", ["code": code]))
        }
    }

    @Test("A forged form sets up no factor that the policy forbids, and no factor for a user who already has one")
    func attacks() async throws {
        try await Self.with(ClassicPolicy(signOnPolicy: "one factor", factors: [.email: .optional])) { server, browser, offer in
            let form = try WireBrowser.form(offer, "set-up")
            let base = form.action.replacing("/set-up", with: "")
            for (step, fields) in [
                ("set-up", ["choice": "sms"]), ("number", ["number": "+49305550123"]), ("confirm", ["code": "123456"]),
                ("set-up", ["choice": "nothing"]),
            ] {
                let page = try await browser.follow(try await browser.post("\(base)/\(step)", form.fields.merging(fields) { $1 }))
                #expect(Self.offered(page) == ["email"], "\(step)")
            }
            #expect(server.messages.sent.isEmpty)
        }
        try await PushServer.with(PushOrganization(classic: Self.policy)) { server in
            try await server.give(.sms, "+49 30 5550123")
            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await Self.app.begin(browser))
            let form = try WireBrowser.form(choice, "factor")
            let base = form.action.replacing("/factor", with: "")
            for (step, fields) in [
                ("set-up", ["choice": "email"]), ("set-up", ["choice": "voice"]), ("number", ["number": "+49305550199"]),
            ] {
                let page = try await browser.follow(try await browser.post("\(base)/\(step)", form.fields.merging(fields) { $1 }))
                #expect(page.body.contains("Verify your identity"), "\(step)")
            }
            #expect(server.messages.sent.isEmpty)
        }
    }
}
