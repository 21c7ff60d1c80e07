import AuthorizationServer
import CountersignSandbox
import Delivery
import Foundation
import TestSupport
import Testing

/// Getting back into an account on the hosted pages in a real browser; as the sign-in's tests are.
@Suite(
    "The recovery pages in Chromium", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
struct RecoveryPagesTests {
    @Test("a forgotten password is replaced by a text message and a question, and the sign-in goes on")
    func byText() async throws { try await use("by-text") }

    @Test("the link of a mail replaces it in another browser, once")
    func byMail() async throws { try await use("by-mail") }

    @Test("a locked account is unlocked by a call, in German")
    func unlock() async throws { try await use("unlock") }

    @Test("an account is set up by the link of a mail, and the sign-in asks for the second factor that the policy wants")
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
