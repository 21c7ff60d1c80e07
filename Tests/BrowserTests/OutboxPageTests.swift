import CountersignSandbox
import Delivery
import Foundation
import TestSupport
import Testing

/// Tests the outbox page in a real browser. With `COUNTERSIGN_SCREENSHOTS`, the screenshots stay in that folder.
@Suite(
    "Outbox page in Chromium", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
struct OutboxPageTests {
    @Test("The outbox page shows new messages without a reload, with valid codes, and shows mails in sandboxed frames")
    func messages() async throws {
        let folder = try BrowserScreenshots()
        let sandbox = try await Sandbox.forTest(.init(host: "localhost"))
        try await sandbox.addCodeFactor(.text, to: "+15551234821", for: SandboxUser.jane.login)
        let result = try await ForeignProgram.run(
            .chromium,
            [OutsidePart.scripts.appending(path: "outbox_page.py").path, "outbox", sandbox.origin.absoluteString, folder.url.path],
            input: "", environment: ["SE_OFFLINE": "true", "SE_AVOID_STATS": "true"])
        #expect(result.status == 0, "\(result.errors)")
        await sandbox.stop()
        folder.close()
    }
}
