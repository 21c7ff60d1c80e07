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
    @Test("A code by text message and a security answer replace a forgotten password, and the sign-in continues")
    func byText() async throws { try await use("by-text") }

    @Test("The link of a mail replaces a forgotten password in another browser, once")
    func byMail() async throws { try await use("by-mail") }

    @Test("A code from a call unlocks a locked account on German pages")
    func unlock() async throws { try await use("unlock") }

    @Test("The link of a mail activates an account, and sign-in asks for the second factor that the policy requires")
    func setUp() async throws {
        let port = try SitePort()
        let sandbox = try await Sandbox.start(.init(host: "localhost", organization: port.place(in: OrgFile.sandboxDefault)))
        try await sandbox.add(SandboxUser(login: "nora.newman@example.com", password: nil))
        try await sandbox.welcome("nora.newman@example.com")
        try await ChromiumScript("recovery_pages.py").run(
            "set-up", at: sandbox, environment: ["LOGIN": "nora.newman@example.com", "SITE_PORT": "\(port.number)"])
        await sandbox.stop()
    }

    private func use(_ scenario: String) async throws {
        let port = try SitePort()
        let sandbox = try await Sandbox.start(.init(host: "localhost", organization: port.place(in: OrgFile.sandboxDefault)))
        try await sandbox.addCodeFactor(.text, to: "+49 30 5550123", for: SandboxUser.jane.login)
        try await sandbox.addSecurityQuestion("first_award", answer: "Swimming cup", for: SandboxUser.jane.login)
        try await ChromiumScript("recovery_pages.py").run(
            scenario, at: sandbox, environment: ["ANSWER": "swimming cup", "SITE_PORT": "\(port.number)"])
        await sandbox.stop()
    }
}
