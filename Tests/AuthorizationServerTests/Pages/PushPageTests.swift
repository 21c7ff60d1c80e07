import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Push page")
struct PushPageTests {
    private static let app = WireRelyingParty.browserApp

    /// Starts a sign-in, and returns Jane's phone and the page that waits for the phone.
    private static func wait(
        _ server: PushServer, _ browser: WireBrowser, hasOther: Bool = true, _ changes: [String: String] = [:]
    ) async throws -> (phone: WirePhone, page: WireResponse) {
        let phone = try await server.enroll()
        if hasOther { try await server.give(.sms, "+49 30 5550123") }
        let choice = try await browser.signIn(try await app.begin(browser, changes))
        return (phone, try await browser.submit(choice, "factor", ["factor": "push"]))
    }

    @Test("The button Resend on the push page sends a new push only after 30 seconds; before that, the page explains the wait")
    func resend() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            var (phone, page) = try await Self.wait(server, browser)
            #expect(!page.body.contains("role=\"alert\"") && !page.body.contains("Sent again"))
            #expect(page.body.contains("data-cooldown=\"30\""))
            let first = try await phone.waiting().map { $0.claims["transactionId"] }
            server.clock.advance(by: 12)
            page = try await browser.submit(page, "factor", ["factor": "push"])
            #expect(page.body.contains("A push was sent less than 30 seconds ago."))
            #expect(page.body.contains("data-cooldown=\"18\""))
            #expect(try await phone.waiting().map { $0.claims["transactionId"] } == first)
            server.clock.advance(by: 18)
            page = try await browser.get(try WireBrowser.form(page, "cancel").action.replacing("/cancel", with: ""))
            #expect(!page.body.contains("role=\"alert\"") && !page.body.contains("data-cooldown"))
            page = try await browser.submit(page, "factor", ["factor": "push"])
            #expect(page.body.contains("<p class=\"status\" role=\"status\">Sent again. Check your device.</p>"))
            #expect(page.body.contains("<title>Sent again. Check your device. – "))
            #expect(!page.body.contains("role=\"alert\"") && page.body.contains("data-cooldown=\"30\""))
            let second = try await phone.waiting().map { $0.claims["transactionId"] }
            #expect(second.count == 1 && second != first)
            try await phone.approve()
            _ = try Self.app.code(try await browser.get(try WireBrowser.form(page, "cancel").action.replacing("/cancel", with: "")))
        }
    }

    @Test("On the push page, “Try another way” leads to the other factors and withdraws the push")
    func anotherWay() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            let (phone, page) = try await Self.wait(server, browser)
            #expect(page.body.contains("Try another way"))
            let choice = try await browser.submit(page, "choose-again")
            #expect(choice.body.contains("Verify your identity") && !choice.body.contains("role=\"alert\""))
            #expect(try await phone.waiting().isEmpty)
            let code = try await browser.submit(choice, "factor", ["factor": "sms"])
            let text = try #require(await server.messages.received()?.code)
            _ = try Self.app.code(try await browser.submit(code, "sent-code", ["code": text]))
        }
    }

    @Test("A user whose only second factor is push is not offered “Try another way” on the push page")
    func noOtherWay() async throws {
        try await PushServer.with { server in
            let (_, page) = try await Self.wait(server, WireBrowser(server.wire), hasOther: false)
            #expect(page.body.contains("Resend") && !page.body.contains("Try another way") && !page.body.contains("choose-again"))
        }
    }

    @Test("The push page is shown in German if the app requests German, and has a link to continue for browsers without scripts")
    func german() async throws {
        try await PushServer.with { server in
            let browser = WireBrowser(server.wire)
            var (_, page) = try await Self.wait(server, browser, ["ui_locales": "de"])
            #expect(page.body.contains("Erneut senden") && page.body.contains("Andere Option wählen"))
            #expect(page.body.contains("data-without-scripts") && page.body.contains(">Weiter</a>"))
            server.clock.advance(by: 30)
            page = try await browser.submit(page, "factor", ["factor": "push"])
            #expect(page.body.contains("Erneut gesendet."))
        }
    }
}
