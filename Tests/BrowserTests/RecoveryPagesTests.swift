import AuthorizationServer
import CountersignSandbox
import Delivery
import Foundation
import TestSupport
import Testing

/// Tests the hosted recovery pages in a real browser, like `SignInPagesTests`.
@Suite(
    "Recovery pages in Chromium", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
struct RecoveryPagesTests {
    @Test("After a code by text message and a security answer, the user sets a new password and signs in with the new password")
    func byText() async throws { try await use("by-text") }

    @Test("A mailed recovery link works once, also in another browser, and lets the user set a new password")
    func byMail() async throws { try await use("by-mail") }

    @Test("On the German pages, a code from a call and a security answer unlock a locked account")
    func unlock() async throws { try await use("unlock") }

    @Test("A mailed link activates an account, and an app with a two-factor policy then asks the user to set up a second factor")
    func setUp() async throws {
        let port = try SitePort()
        let sandbox = try await Sandbox.forTest(.init(host: "localhost", organization: port.place(in: OrgFile.sandboxDefault)))
        try await sandbox.add(SandboxUser(login: "nora.newman@example.com", password: nil))
        try await sandbox.welcome("nora.newman@example.com")
        try await ChromiumScript("recovery_pages.py").run(
            "set-up", at: sandbox, environment: ["LOGIN": "nora.newman@example.com", "SITE_PORT": "\(port.number)"])
        await sandbox.stop()
    }

    private func use(_ scenario: String) async throws {
        let port = try SitePort()
        let sandbox = try await Sandbox.forTest(.init(host: "localhost", organization: port.place(in: OrgFile.sandboxDefault)))
        try await sandbox.addCodeFactor(.text, to: "+49 30 5550123", for: SandboxUser.jane.login)
        try await sandbox.addSecurityQuestion("first_award", answer: "Swimming cup", for: SandboxUser.jane.login)
        try await ChromiumScript("recovery_pages.py").run(
            scenario, at: sandbox, environment: ["ANSWER": "swimming cup", "SITE_PORT": "\(port.number)"])
        await sandbox.stop()
    }
}
