import CountersignSandbox
import Foundation
import TestSupport
import Testing

/// Tests the front page in a real browser. With `COUNTERSIGN_SCREENSHOTS`, the screenshots stay in that folder.
@Suite(
    "Sandbox front page in Chromium", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
struct FrontPageBrowserTests {
    @Test("The sandbox's front page is accessible, fits windows of 320 px and wider, has light and dark schemes, and works without scripts")
    func looks() async throws {
        let sandbox = try await Sandbox.forTest(.init(host: "localhost", messagesPort: 0, phonePort: 0))
        try await ChromiumScript("front_page.py").run("front", at: sandbox)
        await sandbox.stop()
    }
}
