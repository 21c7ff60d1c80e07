import CountersignSandbox
import Delivery
import Foundation
import TestSupport
import Testing

/// Codes that are sent on the hosted pages in a real browser; as the sign-in's tests are.
@Suite(
    "The pages of sent codes in Chromium", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
struct CodePagesTests {
    @Test("a code by text or by a call is the second factor")
    func text() async throws { try await use("text", factors: [(.text, "+49 30 5550123"), (.call, "+49 30 5550123")]) }

    @Test("the link of a mail lets the page that waits go on, or not")
    func mailLink() async throws { try await use("mail-link", factors: [(.mail, SandboxUser.jane.login)]) }

    @Test("who has no second factor sets up a number that codes are sent to")
    func setUp() async throws { try await use("set-up", factors: []) }

    private func use(_ scenario: String, factors: [(MessageChannel, String)]) async throws {
        let sandbox = try await Sandbox.start(.init(host: "localhost"))
        for (channel, place) in factors { try await sandbox.addCodeFactor(channel, to: place, for: SandboxUser.jane.login) }
        try await ChromiumScript("code_pages.py").run(scenario, at: sandbox)
        await sandbox.stop()
    }
}
