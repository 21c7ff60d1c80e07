import CountersignSandbox
import Delivery
import Foundation
import TestSupport
import Testing

/// Tests the hosted pages for sent codes in a real browser, like `SignInPagesTests`.
@Suite(
    "Hosted pages for codes by message, in Chromium", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
struct CodePagesTests {
    @Test("After a wrong code from a text message, the user can request a call instead, and the code of the call signs the user in")
    func text() async throws { try await use("text", factors: [(.text, "+49 30 5550123"), (.call, "+49 30 5550123")]) }

    @Test("On the page of a mailed link, the user confirms or denies the sign-in, and the waiting page continues or shows an error")
    func mailLink() async throws { try await use("mail-link", factors: [(.mail, SandboxUser.jane.login)]) }

    @Test("A user without a second factor sets up a phone number for codes by text message")
    func setUp() async throws { try await use("set-up", factors: []) }

    private func use(_ scenario: String, factors: [(MessageChannel, String)]) async throws {
        let sandbox = try await Sandbox.forTest(.init(host: "localhost"))
        for (channel, place) in factors { try await sandbox.addCodeFactor(channel, to: place, for: SandboxUser.jane.login) }
        try await ChromiumScript("code_pages.py").run(scenario, at: sandbox)
        await sandbox.stop()
    }
}
