import CountersignSandbox
import Foundation
import TestSupport
import Testing

/// Tests the front page in a real browser. With `COUNTERSIGN_SCREENSHOTS`, the screenshots stay in that folder.
@Suite(
    "Front page in Chromium", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
struct FrontPageBrowserTests {
    @Test("The front page is accessible, fits windows from 320 px on, has light and dark schemes, and needs no script")
    func looks() async throws {
        let sandbox = try await Sandbox.start(.init(host: "localhost", messagesPort: 0, phonePort: 0))
        try await ChromiumScript("front_page.py").run("front", at: sandbox)
        await sandbox.stop()
    }
}
