import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Mailed confirmation links")
struct MailLinkPageTests {
    private static let app = WireRelyingParty.browserApp

    /// Signs in until the page waits for the code or the link of a mail.
    private static func begin(_ server: PushServer, _ browser: WireBrowser) async throws -> (page: WireResponse, link: String, code: String)
    {
        browser.headers = [("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Chrome/120.0 Safari/537.36 Press Yes <b>")]
        let choice = try await browser.signIn(try await app.begin(browser))
        let page = try await browser.submit(choice, "factor", ["factor": "email"])
        let mail = try #require(await server.messages.received())
        return (page, try #require(mail.link), try #require(mail.code))
    }

    private static func with(_ body: @Sendable (PushServer) async throws -> Void) async throws {
        try await PushServer.with { server in
            try await server.give(.email, "jane.doe@example.com")
            try await body(server)
        }
    }

    @Test("A mailed link shows the sign-in's details in any browser, and confirming it completes that sign-in only")
    func approves() async throws {
        try await Self.with { server in
            let browser = WireBrowser(server.wire)
            let (page, link, _) = try await Self.begin(server, browser)
            #expect(page.body.contains("j...e@example.com") && page.body.contains("/events\"") && page.body.contains("<script"))
            let address = try WireBrowser.form(page, "cancel").action.replacing("/cancel", with: "")
            #expect(try await browser.get("\(address)/events").body == #"{"waiting":true}"#)
            #expect(link.hasPrefix("/signin/mail/ml_"))

            let other = WireBrowser(server.wire)
            let opened = try await other.get(link)
            #expect(opened.status == 303 && opened["Location"]?.wholeMatch(of: /\/signin\/link\/[0-9A-Za-z_-]{16}\/confirm/) != nil)
            let question = try await other.follow(opened)
            for text in [PushOrganization.jane, "Browser app", "127.0.0.1", "Chrome, Linux", "2027"] {
                #expect(question.body.contains(text), "\(text)")
            }
            #expect(!question.body.contains("Press Yes"), "what a stranger wrote stands beside the question")
            #expect(question["Content-Security-Policy"]?.contains("frame-ancestors 'none'") == true)
            #expect(!question.body.contains("<script") && question["Cache-Control"] == "no-cache, no-store")
            // Opening the link confirms nothing.
            #expect(try await browser.get(address).body.contains("Enter the code"))
            let form = try WireBrowser.form(question, "confirm")
            let yes = try await other.post(form.action, form.fields.merging(["answer": "yes"]) { $1 })
            #expect(yes.status == 200 && yes.body.contains("Confirmed"))
            #expect(other.cookies["session"] == nil && !other.hasLink)
            #expect(try await browser.get("\(address)/events").body == #"{"waiting":false}"#)

            // The attacker knows the password, but the confirmation does not apply to the attacker's sign-in.
            let attacker = WireBrowser(server.wire)
            let choice = try await attacker.signIn(try await Self.app.begin(attacker))
            #expect(choice.body.contains("Verify your identity"))

            let code = try Self.app.code(try await browser.get(address))
            let tokens = try await IssuedTokens(try await Self.app.exchange(code, server.wire), keysFrom: Self.app.base, server.wire)
            #expect(tokens.idToken["amr"] == ["pwd", "email", "mfa"])
            // A used link is rejected.
            let used = try await WireBrowser(server.wire).follow(try await other.get(link))
            #expect(used.status == 400)
        }
    }

    @Test("If the user denies a sign-in through the mailed link, the mailed code becomes invalid, and suspicious activity is logged")
    func denies() async throws {
        try await Self.with { server in
            let browser = WireBrowser(server.wire)
            let (page, link, code) = try await Self.begin(server, browser)
            let other = WireBrowser(server.wire)
            let form = try WireBrowser.form(try await other.follow(try await other.get(link)), "confirm")
            let no = try await other.post(form.action, form.fields.merging(["answer": "no"]) { $1 })
            #expect(no.body.contains("Not confirmed"))
            let late = try await browser.submit(page, "sent-code", ["code": code])
            #expect(!late.body.contains("Verify your identity") && late["Location"] == nil && browser.cookies["session"] == nil)
            #expect(try await server.logged("user.account.report_suspicious_activity") == 1)
        }
    }

    @Test("The form of one mailed link cannot confirm another link that the same browser has opened")
    func otherLink() async throws {
        try await Self.with { server in
            let jane = WireBrowser(server.wire)
            let (_, link, _) = try await Self.begin(server, jane)
            let mailbox = WireBrowser(server.wire)
            let form = try WireBrowser.form(try await mailbox.follow(try await mailbox.get(link)), "confirm")
            server.clock.advance(by: 31)
            let attacker = WireBrowser(server.wire)
            let (page, theirs, _) = try await Self.begin(server, attacker)
            let other = try WireBrowser.form(try await mailbox.follow(try await mailbox.get(theirs)), "confirm")
            #expect(try await mailbox.post(other.action, form.fields.merging(["answer": "yes"]) { $1 }).status == 403)
            let address = try WireBrowser.form(page, "cancel").action.replacing("/cancel", with: "")
            #expect(try await attacker.get("\(address)/events").body == #"{"waiting":true}"#)
        }
    }

    @Test("Only the form on a mailed link's page confirms the link, and all invalid links get the same response")
    func attacks() async throws {
        try await Self.with { server in
            let browser = WireBrowser(server.wire)
            let (page, link, code) = try await Self.begin(server, browser)
            let address = try WireBrowser.form(page, "cancel").action.replacing("/cancel", with: "")
            let other = WireBrowser(server.wire)
            let form = try WireBrowser.form(try await other.follow(try await other.get(link)), "confirm")
            let stranger = WireBrowser(server.wire)
            _ = try await stranger.follow(try await stranger.get(link))
            for fields in [["answer": "yes"], form.fields.merging(["answer": "yes"]) { $1 }] {
                #expect(try await stranger.post(form.action, fields).status == 403)
            }
            #expect(try await other.post(form.action, form.fields).status == 404)
            #expect(try await browser.get(address).body.contains("Enter the code"))
            func look(_ link: String) async throws -> String {
                let browser = WireBrowser(server.wire)
                return RecoveryBrowser.look(try await browser.follow(try await browser.get(link)))
            }
            let bad = try await look("/signin/mail/ml_" + String(repeating: "a", count: 43))
            #expect(bad.hasPrefix("400 "))
            // A link of another kind is invalid.
            #expect(try await look("/signin/reset-password/" + (link.split(separator: "/").last ?? "")) == bad)
            // Entering the code consumes the link.
            _ = try Self.app.code(try await browser.submit(page, "sent-code", ["code": code]))
            #expect(try await look(link) == bad)
        }
    }
}
